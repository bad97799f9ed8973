import { isObject } from './faults.ts'
import { differs } from './headers.ts'
import { type Input, OPERATIONS, type Operation } from './operations.ts'
import type { Kind, Shape } from './record.ts'

/** Whether the description that is served says what the tables say, and is an OpenAPI 3.1 document. */

type Json = Record<string, unknown>

export function descriptionFaults(served: unknown): string[] {
  if (!isObject(served)) return ['it is no object']
  const document = inlined(served, served) as Json
  const paths = isObject(document['paths']) ? document['paths'] : {}
  return [
    ...differs('openapi', document['openapi'], '3.1.0'),
    ...differs('info.version', at(document, 'info', 'version'), '2.1.0'),
    ...(typeof at(document, 'info', 'title') === 'string' ? [] : ['there is no title']),
    ...differs('servers', JSON.stringify(document['servers']), SERVERS),
    ...differs('the security', JSON.stringify(document['security']), '[{"ApiKey":[]}]'),
    ...differs('the header', at(document, 'components', 'securitySchemes', 'ApiKey', 'name'), 'X-API-KEY'),
    ...structureFaults(served, paths),
    ...OPERATIONS.flatMap((operation) =>
      operationFaults(operation, at(paths, operation.path, operation.method.toLowerCase())),
    ),
  ]
}

const SERVERS = JSON.stringify([{ url: 'https://one.example' }, { url: 'https://two.example' }])
const METHODS = new Set(['get', 'post'])
const STATUSES = ['200', '400', '401', '403', '429', '500', '503']
const UNIT_HEADERS = ['X-CU-Cost', 'X-CU-Remaining', 'X-CU-Reset', 'RateLimit', 'RateLimit-Policy']
const FRESHNESS_HEADERS = ['X-Block', 'X-Block-Time', 'X-Lag-Ms']

/** By the OpenAPI 3.1 specification, as far as we use it. */
function structureFaults(document: Json, paths: Json): string[] {
  const faults: string[] = []
  const ids = new Set<unknown>()
  for (const [path, item] of Object.entries(paths)) {
    if (!path.startsWith('/')) faults.push(`${path} does not begin with a slash`)
    for (const [method, operation] of Object.entries(item as Json)) {
      const where = `${method} ${path}`
      if (!METHODS.has(method) || !isObject(operation)) faults.push(`${where} is no operation`)
      const { operationId, responses, parameters = [], summary } = operation as Json
      if (typeof operationId !== 'string' || ids.has(operationId))
        faults.push(`${where} has no id of its own`)
      ids.add(operationId)
      if (typeof summary !== 'string') faults.push(`${where} has no summary`)
      for (const [status, response] of Object.entries((responses ?? {}) as Json)) {
        const isDescribed = typeof at(response, 'description') === 'string'
        if (!/^[1-5]\d\d$/.test(status) || !isDescribed) faults.push(`${where}: ${status} is not described`)
      }
      const placed = (parameters as Json[]).map(({ name, in: place, schema, required }) => {
        if (!isObject(schema)) faults.push(`${where}: ${name} has no schema`)
        if (place === 'path' && required !== true) faults.push(`${where}: ${name} must be required`)
        return `${place} ${name}`
      })
      if (new Set(placed).size !== placed.length) faults.push(`${where} has a parameter twice`)
      const inPath = [...path.matchAll(/\{([^}]+)\}/g)].map(([, name]) => `path ${name}`)
      const described = placed.filter((each) => each.startsWith('path '))
      faults.push(...differs(`${where}: the parameters in the path`, described.join(), inPath.join()))
    }
  }
  for (const reference of JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)) {
    if (at(document, ...(reference[1] ?? '').split('/')) === undefined)
      faults.push(`${reference[1]} is not there`)
  }
  return faults
}

/** With every reference replaced by its target. */
export function inlined(node: unknown, root: Json): unknown {
  if (Array.isArray(node)) return node.map((item) => inlined(item, root))
  if (!isObject(node)) return node
  const reference = node['$ref']
  if (typeof reference === 'string') return inlined(at(root, ...reference.slice(2).split('/')), root)
  return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, inlined(value, root)]))
}

function operationFaults(operation: Operation, described: unknown): string[] {
  const { method, path, cost, inputs, answer, key, about } = operation
  const where = `${method} ${path}`
  if (!isObject(described)) return [`${where} is not described`]
  const parameters = (described['parameters'] ?? []) as Json[]
  const body = at(described, 'requestBody', 'content', 'application/json', 'schema')
  const ofBody = isObject(body) ? body : {}
  const required = new Set((ofBody['required'] ?? []) as string[])
  const listed = [
    ...parameters.map(({ name }) => String(name)),
    ...Object.keys((ofBody['properties'] ?? {}) as Json),
  ]
  const wanted = inputs.map(({ name }) => name)
  const headers = [
    ...(key === 'needed' ? UNIT_HEADERS : []),
    ...(about === 'a chain' ? FRESHNESS_HEADERS : []),
  ]
  const faults = [
    ...differs('the cost', described['x-cu-cost'], cost),
    ...differs('the inputs', listed.sort().join(), wanted.sort().join()),
    ...differs('needs a key', described['security'] === undefined, key === 'needed'),
    ...STATUSES.flatMap((status) =>
      at(described, 'responses', status) ? [] : [`${status} is not described`],
    ),
    ...headers.flatMap((header) =>
      at(described, 'responses', '200', 'headers', header) ? [] : [`${header} is not described`],
    ),
    ...inputs.flatMap((input) => {
      const parameter = parameters.find(({ name }) => name === input.name)
      return input.in === 'body'
        ? inputFaults(input, at(ofBody, 'properties', input.name), required.has(input.name))
        : [
            ...differs(`the place of ${input.name}`, parameter?.['in'], input.in),
            ...inputFaults(input, parameter?.['schema'], parameter?.['required'] === true),
          ]
    }),
    ...shapeFaults(answer, at(described, 'responses', '200', 'content', 'application/json', 'schema'), ''),
  ]
  return faults.map((fault) => `${where}: ${fault}`)
}

function inputFaults(input: Input, schema: unknown, isRequired: boolean): string[] {
  if (!isObject(schema)) return [`${input.name} is not described`]
  const { type } = input
  const values = typeof type === 'string' ? undefined : type.join()
  const isArray = type === 'token-ids'
  const jsonType = isArray ? 'array' : type === 'integer' ? 'integer' : 'string'
  const said = (what: string, given: unknown, wanted: unknown): string[] =>
    differs(`${input.name}: ${what}`, given, wanted)
  return [
    ...said('its type', schema['type'], jsonType),
    ...said('required', isRequired, input.required === true),
    // What the table does not say is ours to choose.
    ...(input.default === undefined ? [] : said('its default', schema['default'], input.default)),
    ...(input.minimum === undefined ? [] : said('its minimum', schema['minimum'], input.minimum)),
    ...(input.maximum === undefined
      ? []
      : said('its maximum', schema[isArray ? 'maxItems' : 'maximum'], input.maximum)),
    ...(values === undefined ? [] : said('its values', (schema['enum'] as string[])?.join(), values)),
  ]
}

/** Every field of the table is described with its type; what is not known yet may be missing. */
function shapeFaults(shape: Shape, schema: unknown, where: string): string[] {
  if (!isObject(schema)) return [`${where || 'the answer'} is not described`]
  if ('kind' in shape) return typeFaults(shape.kind, schema, where)
  if ('arrayOf' in shape) {
    return [
      ...differs(`${where} as a type`, schema['type'], 'array'),
      ...shapeFaults(shape.arrayOf, schema['items'], `${where}/items`),
    ]
  }
  if ('mapOf' in shape) return shapeFaults(shape.mapOf, schema['additionalProperties'], `${where}/*`)
  const properties = (schema['properties'] ?? {}) as Json
  const required = new Set((schema['required'] ?? []) as string[])
  const inner = { ...shape.inner, ...shape.onRequest }
  const names = new Set([...shape.rows.map(([name]) => name), ...Object.keys(inner)])
  return [
    ...Object.keys(properties).flatMap((name) =>
      names.has(name) ? [] : [`${where}/${name} is not in the table`],
    ),
    ...shape.rows.flatMap(([name, kind, presence]) => {
      const described = properties[name]
      if (described === undefined) return [`${where}/${name} is not described`]
      const isListed = presence === 'listed'
      const mustBe = isListed && !required.has(name) ? [`${where}/${name} has to be required`] : []
      return [...mustBe, ...typeFaults(kind, described as Json, `${where}/${name}`)]
    }),
    ...Object.entries(inner).flatMap(([name, of]) => shapeFaults(of, properties[name], `${where}/${name}`)),
  ]
}

function typeFaults(kind: Kind, schema: Json, where: string): string[] {
  return differs(`the type of ${where}`, schema['type'], jsonTypeOf(kind))
}

function jsonTypeOf(kind: Kind): string {
  if (typeof kind === 'object') {
    if ('oneOf' in kind) return 'integer'
    if (kind.is === null) return 'null'
    return typeof kind.is === 'number' ? 'integer' : typeof kind.is
  }
  if (kind === 'count' || kind === 'time' || kind === 'integer') return 'integer'
  return kind === 'number' || kind === 'boolean' ? kind : 'string'
}

function at(value: unknown, ...path: string[]): unknown {
  return path.reduce<unknown>((inside, name) => (isObject(inside) ? inside[name] : undefined), value)
}
