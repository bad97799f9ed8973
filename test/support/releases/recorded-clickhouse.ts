import assert from 'node:assert/strict'

/** A table of a release: how it was created, and some of its rows in ClickHouse's Native format. */
export type RecordedTable = {
  readonly name: string
  /** The statement, with `recorded` as the database. */
  readonly create: string
  readonly columns: readonly string[]
  readonly rows: Uint8Array
  readonly content: string
}

export const RECORDED_DATABASE = 'recorded'
const ROWS = 40

/** A request of ClickHouse's HTTP interface, for formats that the client does not have. */
export async function postClickhouse(url: string, query: string, body?: Uint8Array): Promise<Buffer> {
  const answer = await fetch(`${url}/?${new URLSearchParams({ query })}`, {
    method: 'POST',
    ...(body !== undefined && { body: Buffer.from(body) }),
  })
  const bytes = Buffer.from(await answer.arrayBuffer())
  assert.equal(answer.status, 200, bytes.toString())
  return bytes
}

async function selectText(url: string, query: string): Promise<string> {
  return (await postClickhouse(url, `${query} FORMAT TSVRaw`)).toString().trim()
}

export async function readTables(url: string): Promise<RecordedTable[]> {
  const database = RECORDED_DATABASE
  const names = await selectText(
    url,
    `SELECT name FROM system.tables WHERE database = '${database}' ORDER BY name`,
  )
  return Promise.all(
    names.split('\n').map(async (name): Promise<RecordedTable> => {
      const table = `${database}.${name}`
      const columns = (
        await selectText(
          url,
          `SELECT name FROM system.columns WHERE database = '${database}' AND table = '${name}' AND default_kind IN ('', 'DEFAULT') ORDER BY position`,
        )
      ).split('\n')
      const some = `SELECT ${columns.join(', ')} FROM ${table} ORDER BY ALL LIMIT ${ROWS}`
      return {
        name,
        create: await selectText(url, `SHOW CREATE TABLE ${table}`),
        columns,
        rows: await postClickhouse(url, `${some} FORMAT Native`),
        content: await contentOf(url, `(${some})`, columns),
      }
    }),
  )
}

/** Number of rows and a checksum of these columns, in any order of the rows. */
export function contentOf(url: string, from: string, columns: readonly string[]): Promise<string> {
  const hash = `sum(cityHash64(toString(tuple(${columns.join(', ')}))))`
  return selectText(url, `SELECT concat(toString(count()), ' rows, ', toString(${hash})) FROM ${from}`)
}

export async function createTable(url: string, database: string, { create, ...table }: RecordedTable) {
  const start = `CREATE TABLE ${RECORDED_DATABASE}.${table.name}`
  assert.ok(create.startsWith(start), create.slice(0, 100))
  await postClickhouse(url, create.replace(start, `CREATE TABLE ${database}.${table.name}`))
  await insertRows(url, database, { create, ...table })
}

/** An insert as that release makes it: with its own list of columns. */
export async function insertRows(url: string, database: string, { name, columns, rows }: RecordedTable) {
  if (rows.length === 0) return
  // Without the setting, the server would already merge the versions of a row.
  const into = `INSERT INTO ${database}.${name} (${columns.join(', ')}) SETTINGS optimize_on_insert = 0`
  await postClickhouse(url, `${into} FORMAT Native`, rows)
}
