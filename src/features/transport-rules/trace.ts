import type { Vault } from '../../lib/vault.ts'

export const TRACE_HEADER = 'X-Svc-Rule-Loop'
const MAX_HOPS = 5
const PURPOSE = 'transport rule loop'

/**
 * Which rules have sent a message on so far. It is signed for this one message: otherwise anybody
 * could write it and so keep a rule from copying their mail.
 */
export function readTrace(vault: Vault, messageId: string | null, fields: readonly string[]) {
  for (const field of fields) {
    const [, ids = '', signature] = /^([0-9A-Z,]{26,200}); ([0-9a-f]{64})$/.exec(field) ?? []
    if (signature === signatureOf(vault, messageId, ids)) return ids.split(',')
  }
  return []
}

export const writeTrace = (vault: Vault, messageId: string | null, rules: readonly string[]) => {
  const ids = rules.join(',')
  return `${ids}; ${signatureOf(vault, messageId, ids)}`
}

const signatureOf = (vault: Vault, messageId: string | null, ids: string): string =>
  vault.fingerprint(PURPOSE, `${messageId ?? ''}\n${ids}`)

/** A rule sends a message on once, and after some rules nobody does any more. */
export const mayGoOn = (trace: readonly string[], rule: string): boolean =>
  !trace.includes(rule) && trace.length < MAX_HOPS
