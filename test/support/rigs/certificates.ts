import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** An authority (`ca.pem`), and signed by it `server.pem` and `client.pem`, each with its `.key`, valid for the loopback address. */
export function makeCertificates(dir: string): void {
  const openssl = (line: string): unknown =>
    execFileSync('openssl', line.split(' '), { cwd: dir, stdio: 'pipe' })
  openssl('req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.pem -days 2 -subj /CN=authority')
  writeFileSync(join(dir, 'names'), 'subjectAltName=IP:127.0.0.1,DNS:localhost\n')
  for (const name of ['server', 'client']) {
    openssl(`req -newkey rsa:2048 -nodes -keyout ${name}.key -out ${name}.csr -subj /CN=${name}`)
    openssl(
      `x509 -req -in ${name}.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile names -out ${name}.pem`,
    )
  }
}
