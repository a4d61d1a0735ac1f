// Screens that are seldom opened: a script of their own, loaded with the first of them. See docs/web.md.

export { Account } from './account/account.tsx'
export { Archive } from './archive/archive.tsx'
export { Backups } from './backups/backups.tsx'
export { BlockedSenders } from './blocked-senders/blocked-senders.tsx'
export { Certificates } from './certificates/certificates.tsx'
export { Holds } from './compliance/holds.tsx'
export { Person } from './compliance/person.tsx'
export { Retention } from './compliance/retention.tsx'
export { DeletedMailboxes } from './deleted-mailboxes/deleted-mailboxes.tsx'
export { Provisioning } from './provisioning/provisioning.tsx'
export { Brand } from './white-label/brand.tsx'
export { WhiteLabel } from './white-label/white-label.tsx'
