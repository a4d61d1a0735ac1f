import type { Caller } from './caller.ts'

/** The name of the caller in audit trails, which outlive the row of the caller. */
export function actorOf(caller: Caller): string {
  switch (caller.kind) {
    case 'operator':
      return `operator:${caller.id}`
    case 'key':
      return caller.scope === 'platform' ? 'platform-api-key' : `api-key:${caller.organizationId}`
    case 'user':
      return `user:${caller.email}`
    case 'mailbox':
      return `mailbox:${caller.email}`
    case 'anonymous':
      return 'unknown'
  }
}
