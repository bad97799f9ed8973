import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { parse } from 'yaml'
import { VERSION } from '../../src/lib/version.ts'
import { ADMIN_PORTS, ComposeProject } from './compose-project.ts'
import { compose, REPO, skipReason } from './tools.ts'

/** compose.yaml as docker-compose reads it: what can be wrong without a container. */

/** Name, type and query of the variable in the dashboards. */
const CHOICE = 'datasource datasource prometheus'

const skip = skipReason()
const folder = mkdtempSync(join(tmpdir(), 'chaintape-compose-'))
let project: ComposeProject

before(async () => {
  if (!skip) project = await ComposeProject.make(folder)
})

after(() => rmSync(folder, { recursive: true, force: true }))

describe('compose.yaml', { skip }, () => {
  test('is refused without a password, with the way to get one', async () => {
    const lacking = join(folder, 'lacking.env')
    writeFileSync(lacking, project.env.replace(/^NATS_ENGINE_PASSWORD=.*\n/m, ''))
    const { code, stderr } = await compose(lacking, 'config', '-q')
    assert.notEqual(code, 0)
    assert.match(stderr, /NATS_ENGINE_PASSWORD.*run deploy\/compose\/passwords/)
  })

  test('pins every image by version, and no image by the name of a host', () => {
    for (const [name, { image }] of Object.entries(project.services))
      assert.match(image, /^[a-z]+(\/[a-z-]+)?:v?\d+(\.\d+)+(-alpine)?$/, name)
  })

  test('names the version of this tree, as the other files do', () => {
    const files = ['Dockerfile', 'compose.yaml', 'deploy/kubernetes/kustomization.yaml', 'docs/deploy.md']
    for (const file of files) {
      const text = readFileSync(join(REPO, file), 'utf8')
      const named = text.matchAll(/(?:chaintape:|CHAINTAPE_VERSION:-|newTag: )(\d+\.\d+\.\d+)/g)
      assert.deepEqual(new Set([...named].map(([, version]) => version)), new Set([VERSION]), file)
    }
  })

  test('gives a container no more than it needs', () => {
    const passwords = new Map(
      project.env
        .split('\n')
        .filter((line) => line.startsWith('NATS_'))
        .map((line) => line.split('=') as [string, string]),
    )
    for (const [name, service] of Object.entries(project.services)) {
      const text = JSON.stringify(service.environment ?? {})
      const known = [...passwords].filter(([, password]) => text.includes(password)).map(([user]) => user)
      const isOurs = service.image.startsWith('chaintape:')
      if (isOurs) assert.deepEqual(known, [`NATS_${name.toUpperCase()}_PASSWORD`], name)
      else if (name !== 'nats') assert.deepEqual(known, [], name)
      if (isOurs || name === 'nats' || name === 'valkey') {
        assert.deepEqual([service.read_only, service.cap_drop], [true, ['ALL']], name)
        assert.deepEqual(service.security_opt, ['no-new-privileges:true'], name)
      }
      for (const { host_ip } of service.ports ?? []) assert.equal(host_ip, '127.0.0.1', name)
      if (['nats', 'valkey', 'clickhouse'].includes(name))
        assert.deepEqual([Object.keys(service.networks), service.ports], [['servers'], undefined], name)
    }
    assert.deepEqual(project.roles.sort(), Object.keys(ADMIN_PORTS).sort())
  })

  test('mounts files that exist', () => {
    for (const name of Object.keys(project.services))
      for (const { source } of project.mounts(name))
        if (source.startsWith(join(REPO, 'deploy'))) assert.ok(existsSync(source), `${name} mounts ${source}`)
  })

  test('scrapes every role', () => {
    type Scraped = { scrape_configs: { static_configs: { targets: string[]; labels: { role: string } }[] }[] }
    const file = readFileSync(join(REPO, 'deploy/compose/prometheus.yaml'), 'utf8')
    const scraped = (parse(file) as Scraped).scrape_configs.flatMap(({ static_configs }) => static_configs)
    assert.deepEqual(
      scraped.map(({ targets, labels }) => [labels.role, ...targets]),
      Object.entries(ADMIN_PORTS).map(([role, port]) => [role, `${role}:${port}`]),
    )
  })

  test('gives Grafana the data source and the dashboards', () => {
    const mounts = project.mounts('grafana')
    const provisioned = <Content>(kind: string): Content => {
      const mount = mounts.find(({ target }) => target.startsWith(`/etc/grafana/provisioning/${kind}/`))
      return parse(readFileSync(mount?.source ?? '', 'utf8')) as Content
    }
    const { datasources } = provisioned<{ datasources: Record<string, unknown>[] }>('datasources')
    assert.deepEqual(
      datasources.map(({ uid, type, url, isDefault }) => [uid, type, url, isDefault]),
      [['prometheus', 'prometheus', 'http://prometheus:9090', true]],
    )
    const { providers } = provisioned<{ providers: { options: { path: string } }[] }>('dashboards')
    const shown = mounts.find(({ target }) => target === providers[0]?.options.path)?.source ?? ''
    const dashboards = readdirSync(shown).map((file) => readFileSync(join(shown, file), 'utf8'))
    assert.ok(dashboards.length > 0)
    for (const text of dashboards) {
      // Every panel asks the data source that is chosen at the top; the default one to begin with.
      const { templating } = JSON.parse(text) as { templating: { list: Record<string, unknown>[] } }
      assert.ok(
        templating.list.some(({ name, type, query }) => `${name} ${type} ${query}` === CHOICE),
        CHOICE,
      )
      const asked = [...text.matchAll(/"type": "prometheus",\s*"uid": "([^"]*)"/g)]
      assert.ok(asked.length > 0)
      for (const [, uid = ''] of asked) assert.match(uid, /^\$\{datasource\}$/)
    }
  })
})
