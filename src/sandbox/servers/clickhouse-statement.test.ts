import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MultipleStatementsError, parseStatement } from './clickhouse-statement.ts'

test('an INSERT with a format ends before its data', () => {
  const text = 'INSERT INTO t (a, `format b`) /* FORMAT x */ SETTINGS q = 1 FORMAT JSONEachRow\n{"a": \';\'}'
  const statement = parseStatement(text)
  assert.equal(statement.kind, 'insert')
  if (statement.kind !== 'insert') return
  assert.equal(statement.head, 'INSERT INTO t (a, `format b`) /* FORMAT x */ ')
  assert.equal(statement.tail, 'SETTINGS q = 1 FORMAT JSONEachRow')
  assert.equal(text.slice(statement.dataStart), '{"a": \';\'}')
})

test('VALUES at the end takes its data from the request, VALUES with rows does not', () => {
  assert.deepEqual(parseStatement('insert into t values'), {
    kind: 'insert',
    head: 'insert into t ',
    tail: 'FORMAT Values',
    dataStart: 20,
  })
  assert.deepEqual(parseStatement("INSERT INTO t VALUES (1, 'a;b'), (2, 'it''s')"), { kind: 'other' })
  assert.deepEqual(parseStatement('INSERT INTO t SELECT 1 FORMAT Null'), { kind: 'other', format: 'Null' })
})

test('the format of a query is its last clause', () => {
  assert.deepEqual(parseStatement("SELECT 'FORMAT x' FORMAT JSON ;\n -- end"), {
    kind: 'other',
    format: 'JSON',
  })
  assert.deepEqual(parseStatement('SELECT (SELECT 1 AS format) AS JSON'), { kind: 'other' })
  assert.deepEqual(parseStatement("SELECT $a$ ; FORMAT CSV$a$, '\\' ; '"), { kind: 'other' })
})

test('more than one statement is refused, as the server does over HTTP', () => {
  assert.throws(() => parseStatement('SELECT 1; SELECT 2'), MultipleStatementsError)
  assert.throws(
    () => parseStatement('CREATE TABLE a (x Int8) ENGINE = Log; DROP TABLE b'),
    MultipleStatementsError,
  )
})
