/** The browser and system in a user agent, without the history of the web. */
export function browserName(agent: string | null): string {
  if (!agent) return '–'
  const browser = /(Firefox|Edg|OPR|Chrome|Version)\/(\d+)/.exec(agent)
  const system = /(Windows|Android|iPhone|iPad|Mac OS X|Linux)/.exec(agent)?.[1]
  if (!browser) return agent.slice(0, 40)
  const names: Record<string, string> = { Edg: 'Edge', OPR: 'Opera', Version: 'Safari' }
  return [`${names[browser[1] ?? ''] ?? browser[1]} ${browser[2]}`, system]
    .filter(Boolean)
    .join(', ')
}
