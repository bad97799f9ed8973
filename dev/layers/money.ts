import { type Expression, type Node, type TSType, type TSTypeAnnotation, Visitor } from 'oxc-parser'
import { isMath, keyName, memberName } from './purity.ts'
import type { Report, SourceFile } from './source.ts'

const integerMath = new Set(['min', 'max', 'abs', 'trunc', 'floor', 'ceil', 'sign', 'imul', 'clz32'])
const floatArrays = new Set(['Float16Array', 'Float32Array', 'Float64Array'])
const floatMember =
  /^(parseFloat|toFixed|toPrecision|toExponential|[gs]etFloat(16|32|64)|(read|write)(Float|Double)[BL]E)$/
const toNumber = new Set(['Number', 'parseInt'])

const moneyName = /price|amount|volume|usd|reserve|liquidity|tvl|supply|balance|fdv|marketcap/i
const aboutMoney =
  /((Count|Digits|Decimals|At|Id|Index|Bytes|Length|Scale)|_(COUNT|DIGITS|DECIMALS|AT|ID|INDEX|BYTES|LENGTH|SCALE))$/

export function looksLikeMoney(name: string | undefined): boolean {
  return name !== undefined && moneyName.test(name.replaceAll('_', '')) && !aboutMoney.test(name)
}

/** Money is integer or fixed-point bigint, never a float. */
export function checkMoney(file: SourceFile, report: Report): void {
  // Identifiers that a larger node has already been judged by.
  const judged = new WeakSet<Node>()
  const refuseMember = (name: string | undefined, offset: number) => {
    if (name !== undefined && floatMember.test(name)) report(offset, 'money-float', `${name} works on floats`)
  }
  const refuseNumber = (
    name: string | undefined,
    annotation: TSTypeAnnotation | null | undefined,
    offset: number,
  ) => {
    if (!annotation || !looksLikeMoney(name) || !holdsNumber(annotation.typeAnnotation)) return
    report(offset, 'money-number', `${name} looks like money and is a number; use bigint`)
  }
  const refuseConversion = (how: string, value: Node | undefined, offset: number) => {
    const name = value && moneyIn(value)
    if (name !== undefined) report(offset, 'money-number', `${how} makes a float of ${name}`)
  }

  new Visitor({
    Literal: (node) => {
      if (typeof node.value !== 'number' || Number.isSafeInteger(node.value)) return
      report(node.start, 'money-float', `${node.raw} is not a safe integer`)
    },
    MemberExpression: (node) => {
      const name = memberName(node)
      refuseMember(name, node.start)
      judged.add(node.property)
      if (!isMath(node.object)) return
      judged.add(node.object)
      if (name === 'random' || (name !== undefined && integerMath.has(name))) return
      report(node.start, 'money-float', `Math.${name ?? '[…]'} is not in the list of integer functions`)
    },
    Identifier: (node) => {
      refuseNumber(node.name, node.typeAnnotation, node.start)
      if (floatArrays.has(node.name)) report(node.start, 'money-float', `${node.name} holds floats`)
      if (node.name === 'parseFloat' && !judged.has(node)) refuseMember(node.name, node.start)
      if (node.name === 'Math' && !judged.has(node)) {
        report(
          node.start,
          'money-float',
          'Math is only used as Math.<function>, so that the function can be checked',
        )
      }
    },
    Property: (node) => {
      refuseMember(keyName(node.key), node.start)
      judged.add(node.key)
      if (node.shorthand) judged.add(node.value)
    },
    PropertyDefinition: (node) => refuseNumber(keyName(node.key), node.typeAnnotation, node.start),
    TSPropertySignature: (node) => refuseNumber(keyName(node.key), node.typeAnnotation, node.start),
    RestElement: (node) => {
      const name = node.argument.type === 'Identifier' ? node.argument.name : undefined
      refuseNumber(name, node.typeAnnotation, node.start)
    },
    TSTypeAliasDeclaration: (node) => {
      if (!looksLikeMoney(node.id.name) || !holdsNumber(node.typeAnnotation)) return
      report(node.start, 'money-number', `${node.id.name} looks like money and is a number; use bigint`)
    },
    CallExpression: (node) => {
      const { callee } = node
      const name = callee.type === 'MemberExpression' ? memberName(callee) : identifierName(callee)
      if (name !== undefined && toNumber.has(name))
        refuseConversion(`${name}()`, node.arguments[0], node.start)
    },
    UnaryExpression: (node) => {
      if (node.operator === '+') refuseConversion('unary +', node.argument, node.start)
    },
  }).visit(file.parsed.program)
}

/** The key of a Map or Record may be a number, its value may not. */
function holdsNumber(type: TSType): boolean {
  switch (type.type) {
    case 'TSNumberKeyword':
      return true
    case 'TSUnionType':
    case 'TSIntersectionType':
      return type.types.some(holdsNumber)
    case 'TSArrayType':
      return holdsNumber(type.elementType)
    case 'TSTypeOperator':
    case 'TSParenthesizedType':
      return type.typeAnnotation !== undefined && holdsNumber(type.typeAnnotation)
    case 'TSTypeReference': {
      const held = type.typeArguments?.params.at(-1)
      return held !== undefined && holdsNumber(held)
    }
    default:
      return false
  }
}

function moneyIn(node: Node): string | undefined {
  switch (node.type) {
    case 'Identifier':
      return looksLikeMoney(node.name) ? node.name : undefined
    case 'MemberExpression': {
      const name = memberName(node)
      return looksLikeMoney(name) ? name : undefined
    }
    case 'TSAsExpression':
    case 'TSNonNullExpression':
    case 'TSSatisfiesExpression':
    case 'ChainExpression':
    case 'ParenthesizedExpression':
      return moneyIn(node.expression)
    case 'UnaryExpression':
      return moneyIn(node.argument)
    case 'BinaryExpression':
    case 'LogicalExpression':
      return moneyIn(node.left) ?? moneyIn(node.right)
    case 'ConditionalExpression':
      return moneyIn(node.consequent) ?? moneyIn(node.alternate)
    case 'CallExpression':
      return moneyOfCall(node.callee)
    default:
      return undefined
  }
}

function moneyOfCall(callee: Expression): string | undefined {
  const isToString = callee.type === 'MemberExpression' && memberName(callee) === 'toString'
  return moneyIn(isToString ? callee.object : callee)
}

function identifierName(node: Node): string | undefined {
  return node.type === 'Identifier' ? node.name : undefined
}
