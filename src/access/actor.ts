import type { Caller } from './caller.ts'

/** Who did it, as trails that outlive the caller's own row write it. */
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
