import type { FastifyRequest } from 'fastify'
import type { Visitor } from './public.service.ts'

const PURPOSES = ['sec-purpose', 'purpose', 'x-purpose', 'x-moz'] as const

export function visitorOf({ caller, headers, method }: FastifyRequest): Visitor {
  return {
    method,
    ip: caller.ip,
    userAgent: caller.userAgent,
    purpose: PURPOSES.map((name) => headers[name] ?? '').join(' '),
    referer: headers.referer ?? null,
    language: headers['accept-language'] ?? null,
  }
}
