import type { FastifyRequest } from 'fastify'

/** The success status that the route's schema declares first. */
export function successStatus({ routeOptions }: FastifyRequest): number {
  const responses = (routeOptions.schema?.response ?? {}) as Record<string, unknown>
  return Number(Object.keys(responses).find((status) => status.startsWith('2')) ?? 200)
}
