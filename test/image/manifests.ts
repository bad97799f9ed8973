/** Kubernetes objects, as far as the checks look at them. */
export type Labels = Readonly<Record<string, string>>
type Selector = {
  readonly matchLabels?: Labels
  readonly matchExpressions?: readonly { key: string; operator: string; values: readonly string[] }[]
}
type Probe = {
  readonly httpGet?: { readonly port: string; readonly path: string }
  readonly tcpSocket?: { readonly port: string }
  readonly exec?: { readonly command: readonly string[] }
}
export type PodContainer = {
  readonly name: string
  readonly image: string
  readonly env?: readonly {
    name: string
    value?: string
    valueFrom?: { secretKeyRef?: { name: string; key: string } }
  }[]
  readonly envFrom?: readonly { configMapRef?: { name: string }; secretRef?: { name: string } }[]
  readonly ports?: readonly { name: string; containerPort: number }[]
  readonly livenessProbe?: Probe
  readonly readinessProbe?: Probe
  readonly startupProbe?: Probe
  readonly resources: { readonly requests: object; readonly limits: { readonly memory: string } }
  readonly securityContext: Readonly<Record<string, unknown>>
  readonly volumeMounts?: readonly { name: string }[]
}
type VolumeSource = { readonly configMap?: { readonly name: string } }
export type PodSpec = {
  readonly containers: readonly PodContainer[]
  readonly securityContext: Readonly<Record<string, unknown>>
  readonly automountServiceAccountToken: boolean
  readonly volumes?: readonly ({
    name: string
    secret?: { secretName: string }
    projected?: { sources: VolumeSource[] }
  } & VolumeSource)[]
}
type Peer = {
  readonly podSelector?: Selector
  readonly namespaceSelector?: Selector
  readonly ipBlock?: object
}
type Rule = {
  readonly from?: readonly Peer[]
  readonly to?: readonly Peer[]
  readonly ports?: readonly { port: number; endPort?: number }[]
}
export type Manifest = {
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string }
  readonly data?: Readonly<Record<string, string>>
  readonly spec: {
    readonly replicas?: number
    readonly serviceName?: string
    readonly selector: Labels & Selector
    readonly template: { readonly metadata: { readonly labels: Labels }; readonly spec: PodSpec }
    readonly volumeClaimTemplates?: readonly { readonly metadata: { readonly name: string } }[]
    readonly ports?: readonly { name: string; port: number; targetPort?: string }[]
    readonly scaleTargetRef?: { readonly kind: string; readonly name: string }
    readonly minReplicas?: number
    readonly metrics?: readonly { readonly pods?: { readonly metric: { readonly name: string } } }[]
    readonly podSelector: Selector
    readonly policyTypes: readonly string[]
    readonly ingress?: readonly Rule[]
    readonly egress?: readonly Rule[]
  }
}

export function matches(selector: Selector, labels: Labels): boolean {
  const { matchLabels = {}, matchExpressions = [] } = selector
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every(({ key, values }) => values.includes(labels[key] ?? ''))
  )
}

/** Where a connection comes from or goes to: a pod, a namespace, or an address outside of the cluster. */
export type End = { readonly pod: Labels } | { readonly namespace: string } | 'outside'

/** Whether the policies allow a connection, at both of its ends; traffic of pods without a policy is free. */
export function isAllowed(policies: readonly Manifest[], from: End, to: End, port: number): boolean {
  return isOpen(policies, 'Egress', from, to, port) && isOpen(policies, 'Ingress', to, from, port)
}

function isOpen(
  policies: readonly Manifest[],
  type: 'Egress' | 'Ingress',
  own: End,
  other: End,
  port: number,
): boolean {
  if (own === 'outside' || 'namespace' in own) return true
  const concerned = policies.filter(
    ({ spec }) => spec.policyTypes.includes(type) && matches(spec.podSelector, own.pod),
  )
  if (concerned.length === 0) return true
  return concerned.some(({ spec }) => {
    const rules = (type === 'Egress' ? spec.egress : spec.ingress) ?? []
    return rules.some((rule) => {
      const peers = type === 'Egress' ? rule.to : rule.from
      const { ports } = rule
      const isPort =
        ports === undefined || ports.some((one) => one.port <= port && port <= (one.endPort ?? one.port))
      return isPort && (peers === undefined || peers.some((peer) => isPeer(peer, other)))
    })
  })
}

function isPeer({ podSelector, namespaceSelector, ipBlock }: Peer, end: End): boolean {
  if (end === 'outside') return ipBlock !== undefined
  if ('namespace' in end)
    return (
      namespaceSelector !== undefined &&
      matches(namespaceSelector, { 'kubernetes.io/metadata.name': end.namespace })
    )
  return podSelector !== undefined && namespaceSelector === undefined && matches(podSelector, end.pod)
}
