import { describeAuth } from '../access/labels.ts'
import type { DescribedRoute } from './collect.ts'

/** Lists every route with its auth label, one line each. */
export function routeList(routes: readonly DescribedRoute[]): string {
  const lines = routes.map(({ method, url, auth }) => {
    const path = url.replace(/:(\w+)/g, '{$1}')
    return `${method.toUpperCase().padEnd(6)} ${path}  ${describeAuth(auth)}`
  })
  const byPath = (line: string) => line.slice(7)
  return `${lines.sort((one, other) => (byPath(one) < byPath(other) ? -1 : 1)).join('\n')}\n`
}
