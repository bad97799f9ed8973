import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { parse, parseAllDocuments } from 'yaml'
import { loadConfig } from '../../src/config/load.ts'
import { waitFor } from '../support/rigs/wait-for.ts'
import { Host } from './host.ts'
import { type End, isAllowed, type Manifest, matches, type PodContainer } from './manifests.ts'
import { kustomize, REPO, run, skipReason } from './tools.ts'

/** The manifests as Kustomize renders them: everything that can be wrong without a cluster to say so. */

const skip = skipReason()
const folder = mkdtempSync(join(tmpdir(), 'chaintape-kubernetes-'))
let all: Manifest[]
let host: Host | undefined

before(async () => {
  if (skip) return
  const { code, stdout, stderr } = await kustomize('deploy/kubernetes')
  assert.equal(code, 0, stderr)
  all = parseAllDocuments(stdout).map((document) => document.toJS() as Manifest)
})

after(async () => {
  await host?.stop()
  rmSync(folder, { recursive: true, force: true })
})

const ofKind = (...kinds: string[]): Manifest[] => all.filter(({ kind }) => kinds.includes(kind))
const workloads = (): Manifest[] => ofKind('StatefulSet', 'Deployment')
const named = (kind: string, name: string): Manifest => {
  const found = all.find((one) => one.kind === kind && one.metadata.name === name)
  assert.ok(found, `${kind} ${name} is missing`)
  return found
}
const containers = (): [string, PodContainer, Manifest][] =>
  workloads().flatMap((workload) =>
    workload.spec.template.spec.containers.map((container): [string, PodContainer, Manifest] => [
      `${workload.metadata.name}/${container.name}`,
      container,
      workload,
    ]),
  )

describe('deploy/kubernetes', { skip }, () => {
  test('runs three nodes of NATS, and reader and engine twice per chain', () => {
    const replicas = Object.fromEntries(
      workloads().map(({ metadata, spec }) => [metadata.name, spec.replicas]),
    )
    assert.deepEqual(replicas, {
      ...{ nats: 3, 'reader-base': 2, 'engine-base': 2, writer: 1, clickhouse: 1, valkey: 1 },
      // The autoscaler decides.
      gateway: undefined,
    })
    assert.equal(named('ConfigMap', 'servers').data?.['CHAINTAPE_NATS_REPLICAS'], '3')
    const scaler = named('HorizontalPodAutoscaler', 'gateway').spec
    assert.deepEqual([scaler.scaleTargetRef?.name, scaler.minReplicas], ['gateway', 2])
    const metric = scaler.metrics?.[0]?.pods?.metric.name ?? ''
    const metrics = readFileSync(join(REPO, 'src/gateway/http/metrics.ts'), 'utf8')
    assert.equal(metric, 'chaintape_gateway_sockets')
    assert.ok(metrics.includes("name('sockets')") && metrics.includes('chaintape_gateway_'))
  })

  test('gives no container rights, a writable root or unlimited memory', () => {
    for (const [name, { securityContext, resources }, workload] of containers()) {
      const pod = workload.spec.template.spec
      assert.equal(pod.automountServiceAccountToken, false, name)
      assert.deepEqual(
        [pod.securityContext['runAsNonRoot'], securityContext['allowPrivilegeEscalation']],
        [true, false],
      )
      assert.deepEqual(securityContext['capabilities'], { drop: ['ALL'] }, name)
      // The official image of ClickHouse writes its configuration when it starts.
      if (!name.startsWith('clickhouse')) assert.equal(securityContext['readOnlyRootFilesystem'], true, name)
      assert.match(resources.limits.memory, /^\d+Gi$/, name)
    }
  })

  test('probes every container at a port that it has', () => {
    for (const [name, container] of containers()) {
      assert.ok(container.livenessProbe, name)
      if (container.name !== 'reconciler') assert.ok(container.readinessProbe, name)
      const ports = (container.ports ?? []).map((port) => port.name)
      for (const port of ports) assert.ok(port.length <= 15, `${name}: ${port}`)
      for (const probe of [container.livenessProbe, container.readinessProbe, container.startupProbe]) {
        const port = probe?.httpGet?.port ?? probe?.tcpSocket?.port
        if (port !== undefined) assert.ok(ports.includes(port), `${name}: ${port}`)
      }
    }
  })

  test('keeps disruptions to one pod at a time wherever there are several', () => {
    for (const { metadata, spec } of workloads().filter(({ spec }) => spec.replicas !== 1)) {
      const budgets = ofKind('PodDisruptionBudget').filter((budget) =>
        matches(budget.spec.selector, spec.template.metadata.labels),
      )
      assert.equal(budgets.length, 1, metadata.name)
    }
  })

  test('refers only to what exists', async () => {
    const { stdout } = await run('sh', ['deploy/compose/passwords'])
    const passwords = stdout.split('\n').map((line) => line.split('=')[0])
    const exists = (kind: string, name: string): boolean =>
      name === 'passwords' || all.some((one) => one.kind === kind && one.metadata.name === name)
    for (const [name, { env = [], envFrom = [], volumeMounts = [] }, workload] of containers()) {
      for (const { valueFrom } of env) {
        const secret = valueFrom?.secretKeyRef
        if (secret !== undefined) assert.ok(passwords.includes(secret.key), `${name}: ${secret.key}`)
      }
      for (const { configMapRef } of envFrom)
        if (configMapRef !== undefined) assert.ok(exists('ConfigMap', configMapRef.name), name)
      const { volumes = [] } = workload.spec.template.spec
      for (const { secret, projected } of volumes) {
        if (secret !== undefined) assert.ok(exists('Secret', secret.secretName), secret.secretName)
        for (const { configMap } of projected?.sources ?? [])
          assert.ok(exists('ConfigMap', configMap?.name ?? ''), configMap?.name)
      }
      const claims = workload.spec.volumeClaimTemplates ?? []
      const mountable = [
        ...volumes.map((volume) => volume.name),
        ...claims.map(({ metadata }) => metadata.name),
      ]
      for (const mount of volumeMounts) assert.ok(mountable.includes(mount.name), `${name}: ${mount.name}`)
      if (workload.kind === 'StatefulSet') named('Service', workload.spec.serviceName ?? '')
    }
    for (const { metadata, spec } of ofKind('Service')) {
      const selected = workloads().filter(({ spec: { template } }) =>
        matches({ matchLabels: spec.selector }, template.metadata.labels),
      )
      assert.equal(selected.length, 1, metadata.name)
      const ports = selected.flatMap(({ spec: { template } }) =>
        template.spec.containers.flatMap((one) => one.ports ?? []),
      )
      for (const { port, targetPort } of spec.ports ?? [])
        assert.ok(
          ports.some(({ name, containerPort }) =>
            targetPort === undefined ? containerPort === port : name === targetPort,
          ),
        )
    }
  })

  test('lets exactly the connections through that roles need', () => {
    const policies = ofKind('NetworkPolicy')
    const pod = (workload: string): End => {
      const found = workloads().find(({ metadata }) => metadata.name === workload)
      assert.ok(found, workload)
      return { pod: found.spec.template.metadata.labels }
    }
    const roles = ['reader-base', 'engine-base', 'writer', 'gateway']
    const monitoring = { namespace: 'monitoring' }
    const needed: [End, End, number][] = [
      ...roles.flatMap((role): [End, End, number][] => [
        [pod(role), pod('nats'), 4222],
        [pod(role), pod('clickhouse'), 8123],
        [pod(role), { namespace: 'kube-system' }, 53],
      ]),
      ...['engine-base', 'writer', 'gateway'].map((role): [End, End, number] => [
        pod(role),
        pod('valkey'),
        6379,
      ]),
      [pod('nats'), pod('nats'), 6222],
      [pod('reader-base'), 'outside', 8545],
      [pod('engine-base'), 'outside', 443],
      ['outside', pod('gateway'), 8080],
      [monitoring, pod('reader-base'), 9101],
      [monitoring, pod('gateway'), 9104],
    ]
    for (const [from, to, port] of needed)
      assert.ok(isAllowed(policies, from, to, port), JSON.stringify([from, to, port]))
    const refused: [End, End, number][] = [
      ['outside', pod('gateway'), 9104],
      ['outside', pod('nats'), 4222],
      ['outside', pod('clickhouse'), 8123],
      [{ namespace: 'default' }, pod('nats'), 4222],
      [monitoring, pod('nats'), 4222],
      [pod('gateway'), pod('nats'), 6222],
      [pod('gateway'), pod('nats'), 8222],
      [pod('gateway'), pod('reader-base'), 9101],
      [pod('gateway'), 'outside', 443],
      [pod('writer'), 'outside', 443],
      [pod('reader-base'), pod('valkey'), 6379],
      [pod('valkey'), pod('nats'), 4222],
      [pod('clickhouse'), 'outside', 443],
    ]
    for (const [from, to, port] of refused)
      assert.ok(!isAllowed(policies, from, to, port), JSON.stringify([from, to, port]))
  })

  test('has settings that every role accepts, with the variables of its container', () => {
    const files = join(REPO, 'deploy/kubernetes')
    const chains = readdirSync(join(files, 'chains'))
    const everything = parse(readFileSync(join(files, 'chaintape.yaml'), 'utf8')) as { chains: object }
    assert.deepEqual(Object.keys(everything.chains), chains)
    for (const [name, container, workload] of containers()) {
      if (!container.image.startsWith('chaintape')) continue
      const chain = /^(?:reader|engine)-(.*)$/.exec(workload.metadata.name)?.[1]
      const file = chain === undefined ? 'chaintape.yaml' : `chains/${chain}/chaintape.yaml`
      const own = (container.env ?? []).map((one) => [one.name, one.value ?? 'a-password'])
      const config = loadConfig(join(files, file), {
        ...named('ConfigMap', 'servers').data,
        ...Object.fromEntries(own),
      })
      assert.equal(config.nats.replicas, 3, name)
      assert.equal(config.nats.username, container.name)
      if (chain !== undefined) assert.deepEqual(Object.keys(config.chains), [chain])
    }
  })

  test('NATS forms a cluster by its file, and refuses a node without the password', async () => {
    const names = [0, 1, 2].map((node) => `nats-${node}`)
    host = await Host.start(folder, names.map((name, node) => `127.0.0.${node + 2} ${name}.nats\n`).join(''))
    const passwords = (await run('sh', ['deploy/compose/passwords'])).stdout.trim().split('\n')
    const variables = Object.fromEntries(passwords.map((line) => line.split('=') as [string, string]))
    const [, container] = containers().find(([name]) => name === 'nats/nats') ?? []
    const expand = (text: string): string =>
      text.replaceAll(/\$\((\w+)\)/g, (_, name) => variables[name] ?? '')
    const startNode = (name: string, address: string, routePassword?: string): void => {
      const at = join(folder, name)
      mkdirSync(at)
      // Each pod has its own address; here each node has.
      for (const { data = {} } of ofKind('ConfigMap'))
        for (const [file, text] of Object.entries(data))
          if (file.endsWith('.conf')) writeFileSync(join(at, file), text.replaceAll('0.0.0.0', address))
      const own = (container?.env ?? []).map((one) => [one.name, expand(one.value ?? '')])
      const routes = Object.fromEntries(own.filter(([, value]) => value !== ''))
      const env: Record<string, string> = {
        ...variables,
        ...routes,
        POD_NAME: name,
        NATS_STORE_DIR: join(at, 'store'),
      }
      const wrong = Object.fromEntries(
        Object.entries(env).map(([key, value]) => [
          key,
          routePassword === undefined
            ? value
            : value.replace(variables['NATS_CLUSTER_PASSWORD'] ?? '', routePassword),
        ]),
      )
      host?.start(name, ['nats-server', '--config', join(at, 'nats.conf')], {
        PATH: process.env['PATH'],
        ...wrong,
      })
    }
    for (const [node, name] of names.entries()) startNode(name, `127.0.0.${node + 2}`)
    startNode('nats-9', '127.0.0.9', 'guessed')
    const monitor = async (address: string, path: string): Promise<Record<string, unknown> | undefined> => {
      const answer = await host?.run(['wget', '-q', '-O', '-', `http://${address}:8222${path}`])
      return answer?.code === 0 ? (JSON.parse(answer.stdout) as Record<string, unknown>) : undefined
    }
    await waitFor('three nodes to agree on a leader', async () => {
      const cluster = (await monitor('127.0.0.2', '/jsz'))?.['meta_cluster'] as
        | { leader?: string; cluster_size?: number }
        | undefined
      return cluster?.leader && cluster.cluster_size === 3 ? true : undefined
    })
    await waitFor('the node with a wrong password to be refused', () =>
      readFileSync(host?.logFile('nats-9') ?? '', 'utf8').includes('Authorization Violation')
        ? true
        : undefined,
    )
    const { config } = (await monitor('127.0.0.3', '/jsz')) as { config: { sync_always: boolean } }
    assert.equal(config.sync_always, true)
  })
})
