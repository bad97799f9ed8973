/**
 * The ClickHouse engine (chdb) behind ClickHouse's HTTP interface, so that the product has one code path:
 * `@clickhouse/client` and a URL. For the local stack and the tests only: it has no users, keeps a whole
 * result in memory and cannot cancel a query. Operators run the official server.
 */
import { randomUUID } from 'node:crypto'
import { mkdirSync, rmSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { join, resolve } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { inspect, parseArgs, promisify } from 'node:util'
import { brotliDecompress, gunzip, gzip, inflate, zstdDecompress } from 'node:zlib'
import { type ChdbResult, drainPending, Session } from 'chdb'
import { MultipleStatementsError, parseStatement } from './clickhouse-statement.ts'

// What the embedded engine sets otherwise than the server does.
const serverDefaults = ['--implicit_select=0', '--allow_introspection_functions=0']

// Parameters of the request itself; every other one is a setting of the query.
const requestParameters = new Set([
  ...[
    'query',
    'query_id',
    'database',
    'default_format',
    'user',
    'password',
    'role',
    'quota_key',
    'stacktrace',
  ],
  ...['session_id', 'session_timeout', 'session_check', 'close_session', 'wait_end_of_query', 'buffer_size'],
  ...['compress', 'decompress', 'client_protocol_version', 'enable_http_compression'],
  ...['send_progress_in_http_headers', 'http_headers_progress_interval_ms', 'http_zlib_compression_level'],
])

type Request = {
  readonly parameters: URLSearchParams
  readonly queryId: string
  readonly isReadOnly: boolean
  /** The statement and, behind it or in `data`, the rows of an INSERT. */
  readonly text: Buffer
  readonly data: Buffer
}

type Answer = { readonly body: Buffer; readonly format: string; readonly summary: Record<string, string> }

class ClickhouseError extends Error {
  readonly code: number
  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

const { port, dataDir, config } = readArguments()
const incomingDir = join(dataDir, 'incoming')
rmSync(incomingDir, { recursive: true, force: true })
mkdirSync(incomingDir, { recursive: true })

// Kept open for as long as the process lives: with the last connection the engine itself would close.
const engine = new Session(join(dataDir, 'engine'), {
  connectionArgs: [...serverDefaults, `--config-file=${config}`],
})
const version = (await engine.queryAsync('SELECT version()', { format: 'TSVRaw' })).text().trim()

const server = createServer({ maxHeaderSize: 4 * 1024 * 1024, requestTimeout: 0, keepAliveTimeout: 30_000 })
server.on('request', (request, response) => {
  serve(request, response).catch((error: unknown) => {
    process.stderr.write(`request failed: ${inspect(error)}\n`)
    response.destroy()
  })
})
server.listen(port, '127.0.0.1', () => {
  process.stdout.write(`ClickHouse ${version} engine on port ${port}\n`)
})

process.on('SIGTERM', () => {
  server.close()
  server.closeIdleConnections()
  const end = () => {
    engine.close()
    process.exit(0)
  }
  drainPending().then(end, end)
})

async function serve(message: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(message.url ?? '/', 'http://localhost')
  if (url.pathname === '/ping' || url.pathname === '/replicas_status') return void response.end('Ok.\n')
  if (url.pathname !== '/' && url.pathname !== '/query') {
    response.statusCode = 404
    return void response.end(`There is no handle ${url.pathname}\n`)
  }
  if (message.method === 'GET' && !url.searchParams.has('query')) return void response.end('Ok.\n')

  response.setHeader('X-ClickHouse-Server-Display-Name', 'chaintape-dev')
  response.setHeader('X-ClickHouse-Timezone', 'UTC')
  try {
    const request = await readRequest(message, url)
    response.setHeader('X-ClickHouse-Query-Id', request.queryId)
    const answer = await run(request)
    response.setHeader('X-ClickHouse-Format', answer.format)
    response.setHeader('X-ClickHouse-Summary', JSON.stringify(answer.summary))
    response.setHeader('Content-Type', contentType(answer.format))
    await send(message, response, request, answer.body)
  } catch (error) {
    sendError(response, error)
  }
}

async function readRequest(message: IncomingMessage, url: URL): Promise<Request> {
  const parameters = url.searchParams
  let body = await decompress(await buffer(message), message.headers['content-encoding'])
  const contentTypeHeader = message.headers['content-type'] ?? ''
  if (contentTypeHeader.startsWith('multipart/form-data')) {
    const form = await new Response(body, { headers: { 'content-type': contentTypeHeader } }).formData()
    for (const [name, value] of form) if (typeof value === 'string') parameters.append(name, value)
    body = Buffer.alloc(0)
  }
  if (parameters.get('decompress') === '1' || parameters.get('compress') === '1') {
    throw new ClickhouseError(
      48,
      'Native compression is not part of the development server. (NOT_IMPLEMENTED)',
    )
  }
  const query = parameters.get('query')
  return {
    parameters,
    queryId: parameters.get('query_id') || randomUUID(),
    isReadOnly: message.method === 'GET',
    text: query === null || query === '' ? body : Buffer.from(query),
    data: query === null || query === '' ? Buffer.alloc(0) : body,
  }
}

async function run(request: Request): Promise<Answer> {
  const { parameters, text, data } = request
  const defaultFormat = parameters.get('default_format') ?? 'TabSeparated'
  const statement = parseStatement(text.toString('latin1'))
  // A connection of its own for each request: settings, parameters and the database end with it. It costs a
  // tenth of a millisecond, while the library's own parameter binding lets only one query run at a time.
  const connection = new Session(engine.path, { connectionArgs: serverDefaults })
  try {
    const prelude = preludeOf(request)
    if (prelude !== '') await connection.queryAsync(prelude)
    if (statement.kind === 'insert') {
      const rows = Buffer.concat([text.subarray(statement.dataStart), data])
      const result = await insert(connection, statement.head, statement.tail, rows)
      return { body: Buffer.alloc(0), format: defaultFormat, summary: summaryOf(result, true) }
    }
    const sql = Buffer.concat([text, data]).toString()
    const result = await connection.queryAsync(sql, { format: defaultFormat })
    const body = Buffer.from(result.bytes())
    return { body, format: statement.format ?? defaultFormat, summary: summaryOf(result, false) }
  } finally {
    connection.close()
  }
}

// Through a file, because the engine ends data that stands behind a statement at the first empty line.
async function insert(
  connection: Session,
  head: string,
  tail: string,
  rows: Buffer,
): Promise<ChdbResult | undefined> {
  if (rows.length === 0) return undefined
  const file = join(incomingDir, randomUUID())
  try {
    await writeFile(file, rows)
    const source = `FROM INFILE ${literal(file)} COMPRESSION 'none' `
    return await connection.queryAsync(`${utf8(head)}${source}${utf8(tail)}`)
  } finally {
    await rm(file, { force: true })
  }
}

function utf8(latin1: string): string {
  return Buffer.from(latin1, 'latin1').toString()
}

function preludeOf({ parameters, isReadOnly }: Request): string {
  const database = parameters.get('database')
  const settings: string[] = []
  for (const [name, value] of parameters) {
    if (requestParameters.has(name)) continue
    if (!/^\w+$/.test(name)) throw new ClickhouseError(115, `Unknown setting '${name}'. (UNKNOWN_SETTING)`)
    settings.push(`${name} = ${literal(value)}`)
  }
  if (isReadOnly) settings.push('readonly = 2')
  const use = database === null || database === '' ? [] : [`USE \`${database.replace(/[\\`]/g, '\\$&')}\``]
  return [...use, ...(settings.length > 0 ? [`SET ${settings.join(', ')}`] : [])].join('; ')
}

function literal(text: string): string {
  const escapes: Record<string, string> = { '\0': '\\0', '\n': '\\n', '\r': '\\r', '\t': '\\t' }
  return `'${text.replace(/[\\'\0\n\r\t]/g, (character) => escapes[character] ?? `\\${character}`)}'`
}

function summaryOf(result: ChdbResult | undefined, isInsert: boolean): Record<string, string> {
  const rows = `${result?.rowsRead ?? 0}`
  const bytes = `${result?.bytesRead ?? 0}`
  return {
    read_rows: rows,
    read_bytes: bytes,
    written_rows: isInsert ? rows : '0',
    written_bytes: isInsert ? bytes : '0',
    total_rows_to_read: '0',
    result_rows: '0',
    result_bytes: '0',
    elapsed_ns: `${Math.round((result?.elapsed ?? 0) * 1e9)}`,
  }
}

function contentType(format: string): string {
  if (/^JSON.*EachRow|Progress$/.test(format)) return 'application/x-ndjson; charset=UTF-8'
  if (format.startsWith('JSON')) return 'application/json; charset=UTF-8'
  if (format.startsWith('CSV')) return 'text/csv; charset=UTF-8; header=absent'
  if (/^(TabSeparated|TSV)/.test(format)) return 'text/tab-separated-values; charset=UTF-8'
  return /^(RowBinary|Native|Arrow|Parquet)/.test(format)
    ? 'application/octet-stream'
    : 'text/plain; charset=UTF-8'
}

async function decompress(body: Buffer, encoding: string | undefined): Promise<Buffer> {
  const decoders = {
    gzip: gunzip,
    'x-gzip': gunzip,
    deflate: inflate,
    br: brotliDecompress,
    zstd: zstdDecompress,
  }
  if (encoding === undefined || encoding === 'identity' || body.length === 0) return body
  const decoder = decoders[encoding as keyof typeof decoders]
  if (decoder === undefined) throw new ClickhouseError(48, `Unknown encoding ${encoding}. (NOT_IMPLEMENTED)`)
  return await promisify(decoder)(body)
}

async function send(
  message: IncomingMessage,
  response: ServerResponse,
  request: Request,
  body: Buffer,
): Promise<void> {
  const isGzipWanted = `${message.headers['accept-encoding']}`.includes('gzip')
  if (request.parameters.get('enable_http_compression') !== '1' || !isGzipWanted)
    return void response.end(body)
  response.setHeader('Content-Encoding', 'gzip')
  response.end(await promisify(gzip)(body))
}

function sendError(response: ServerResponse, error: unknown): void {
  const text = error instanceof Error ? error.message : String(error)
  const isMultiple = error instanceof MultipleStatementsError
  const known = isMultiple ? new ClickhouseError(62, `Syntax error: ${text}. (SYNTAX_ERROR)`) : error
  const message =
    known instanceof ClickhouseError ? `Code: ${known.code}. DB::Exception: ${known.message}` : text
  const code = /^Code: (\d+)/.exec(message)?.[1] ?? '1000'
  const name = [...message.matchAll(/\(([A-Z][A-Z0-9_]{2,})\)/g)].at(-1)?.[1] ?? ''
  response.removeHeader('X-ClickHouse-Format')
  response.statusCode = statusOf(name)
  response.setHeader('X-ClickHouse-Exception-Code', code)
  response.setHeader('Content-Type', 'text/plain; charset=UTF-8')
  const prefix = message.startsWith('Code:') ? '' : `Code: ${code}. DB::Exception: `
  const suffix = name === '' ? ' (POCO_EXCEPTION)' : ''
  response.end(`${prefix}${message}${suffix} (version ${version} (chaintape dev server))\n`)
}

/** The server's own table from error to status. */
function statusOf(name: string): number {
  const badRequest = [
    ...[
      'BAD_ARGUMENTS',
      'SYNTAX_ERROR',
      'INCORRECT_DATA',
      'TYPE_MISMATCH',
      'DUPLICATE_COLUMN',
      'ILLEGAL_COLUMN',
    ],
    ...['CANNOT_COMPILE_REGEXP', 'UNKNOWN_ELEMENT_IN_AST', 'UNKNOWN_TYPE_OF_AST_NODE', 'TOO_DEEP_AST'],
    ...['TOO_BIG_AST', 'UNEXPECTED_AST_STRUCTURE', 'VALUE_IS_OUT_OF_RANGE_OF_DATA_TYPE'],
  ]
  const notFound = [
    ...['UNKNOWN_TABLE', 'UNKNOWN_FUNCTION', 'UNKNOWN_IDENTIFIER', 'UNKNOWN_TYPE', 'UNKNOWN_STORAGE'],
    ...['UNKNOWN_DATABASE', 'UNKNOWN_SETTING', 'UNKNOWN_DIRECTION_OF_SORTING', 'UNKNOWN_AGGREGATE_FUNCTION'],
    ...['UNKNOWN_FORMAT', 'UNKNOWN_DATABASE_ENGINE', 'UNKNOWN_TYPE_OF_QUERY', 'NO_ELEMENTS_IN_CONFIG'],
  ]
  if (badRequest.includes(name) || name.startsWith('CANNOT_PARSE_')) return 400
  if (notFound.includes(name)) return 404
  return { TIMEOUT_EXCEEDED: 408, QUERY_IS_TOO_LARGE: 413, NOT_IMPLEMENTED: 501 }[name] ?? 500
}

function readArguments(): { port: number; dataDir: string; config: string } {
  const type = 'string'
  const { values } = parseArgs({ options: { port: { type }, data: { type }, config: { type } } })
  const { port, data, config } = values
  if (port === undefined || data === undefined || config === undefined) {
    process.stderr.write('usage: node clickhouse-server.ts --port <port> --data <folder> --config <file>\n')
    process.exit(2)
  }
  return { port: Number(port), dataDir: resolve(data), config: resolve(config) }
}
