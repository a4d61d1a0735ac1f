import { readMailServers, resolveMailServers } from '../../src/config/mail-servers.ts'

/** The mail servers of an environment without a private edge. */
export function mailServersOf(environment: Record<string, string>) {
  const settings = resolveMailServers(readMailServers(environment))
  return { current: () => settings }
}
