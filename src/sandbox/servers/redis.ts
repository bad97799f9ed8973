import { mkdirSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import type { ProcessPlan } from './process.ts'
import { findProgram } from './programs.ts'

export function planRedis(dataDir: string, port: number): ProcessPlan {
  const folder = join(dataDir, 'redis')
  mkdirSync(folder, { recursive: true })
  return {
    name: 'redis',
    command: findProgram('valkey-server', 'redis-server') ?? 'redis-server',
    args: [
      ...['--port', `${port}`, '--bind', '127.0.0.1', '--dir', folder],
      ...['--save', '', '--appendonly', 'no', '--daemonize', 'no'],
    ],
    logFile: join(dataDir, 'redis.log'),
    ports: [port],
    isReady: () => answersPing(port),
  }
}

function answersPing(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write('PING\r\n'))
    const settle = (answer: boolean) => {
      socket.destroy()
      resolve(answer)
    }
    socket.setTimeout(2000, () => settle(false))
    socket.once('error', () => settle(false))
    socket.once('close', () => settle(false))
    socket.once('data', (data) => settle(data.toString().startsWith('+PONG')))
  })
}
