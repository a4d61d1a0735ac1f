import { InvalidVariable } from './config/env.ts'

/** A problem that the operator must fix before the service can start; printed as one line. */
export class StartupError extends Error {}

interface SystemError extends Error {
  code?: string
  syscall?: string
  address?: string
  port?: number
  severity?: string
}

const UNREACHABLE = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ECONNRESET',
  'CONNECT_TIMEOUT',
  'CONNECTION_CLOSED',
  'CONNECTION_ENDED',
])

/** Returns one line that names the problem and the fix, instead of a stack trace. */
export function explainStartFailure(error: unknown): string {
  if (error instanceof StartupError || error instanceof InvalidVariable) return error.message
  const { code = '', syscall, address, port, message, severity } = error as SystemError
  if (syscall === 'listen' || syscall === 'bind') {
    const where = `${address ?? 'the address'}${port === undefined ? '' : `:${port}`}`
    if (code === 'EADDRINUSE') return `port ${port} on ${address} is in use; set PORT to a free one`
    if (code === 'EACCES') return `no permission to listen on ${where}; set PORT to 1024 or above`
    return `cannot listen on ${where} (${code}); check HOST and PORT`
  }
  if (UNREACHABLE.has(code)) return `the database of DATABASE_URL does not answer (${code})`
  if (severity !== undefined) return `the database refuses: ${message} (${code})`
  return oneLine(message)
}

const oneLine = (message: string): string => message.replace(/\s+/g, ' ')
