import type { Schema } from './describe-gateway.ts'

/** A schema as a TypeScript type. Throws for a keyword it does not know, so that no type is wider than its schema. */
export function typeText(schema: Schema, indent = ''): string {
  if (schema.$ref !== undefined) return schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1)
  if (schema.const !== undefined) return literal(schema.const)
  if (schema.enum !== undefined) return schema.enum.map(literal).join(' | ')
  if (Array.isArray(schema.type))
    return schema.type.map((type) => typeText({ ...schema, type: type as string }, indent)).join(' | ')
  switch (schema.type) {
    case 'string':
    case 'boolean':
    case 'null':
      return schema.type
    case 'integer':
    case 'number':
      return 'number'
    case 'array':
      return schema.items ? `readonly ${wrapped(typeText(schema.items, indent))}[]` : 'readonly unknown[]'
    case 'object':
      return objectText(schema, indent)
    default:
      throw new Error(`no type for ${JSON.stringify(schema)}`)
  }
}

function objectText({ properties, required = [], additionalProperties }: Schema, indent: string): string {
  if (typeof additionalProperties === 'object')
    return `{ readonly [id: string]: ${typeText(additionalProperties, indent)} }`
  if (properties === undefined) return '{ readonly [name: string]: unknown }'
  const inner = `${indent}  `
  const lines = Object.entries(properties).map(([name, member]) => {
    const mark = required.includes(name) ? '' : '?'
    return `${commentText(member.description, inner)}${inner}readonly ${name}${mark}: ${typeText(member, inner)}\n`
  })
  return `{\n${lines.join('')}${indent}}`
}

export function commentText(text: string | undefined, indent = ''): string {
  return text === undefined ? '' : `${indent}/** ${text.replaceAll('\n', ' ').replaceAll('*/', '')} */\n`
}

function literal(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : JSON.stringify(value)
}

function wrapped(type: string): string {
  return type.includes(' | ') ? `(${type})` : type
}
