import type { FastifyRequest } from 'fastify'

/** Returns the first 2xx status that the schema of the route declares. */
export function successStatus({ routeOptions }: FastifyRequest): number {
  const responses = (routeOptions.schema?.response ?? {}) as Record<string, unknown>
  return Number(Object.keys(responses).find((status) => status.startsWith('2')) ?? 200)
}
