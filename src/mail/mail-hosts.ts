import { sql } from 'kysely'
import type { Db } from '../database/database.ts'
import type { Vault } from '../lib/vault.ts'
import { type Doveadm, doveadmAt } from './doveadm.ts'

/** A label of a host name: it is part of queries and of the key of the host. */
export const HOST_NAME = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/

/** The key of the administration interface of one of several hosts, derived from the root key. */
export const hostDoveadmKey = (vault: Vault, name: string): string =>
  vault.fingerprint('administration interface of Dovecot', `host ${name}`)

/** One of several hosts that runs a Dovecot. */
export interface DovecotHost {
  id: string
  name: string
  address: string
  sync_port: number
  isBackend: boolean
  isAway: boolean
  doveadm_url: string
}

/** The hosts that run a Dovecot; none when the installation has one host. */
export async function dovecotHosts(db: Db): Promise<DovecotHost[]> {
  const { rows } = await sql<DovecotHost>`
    select id, name, address, sync_port, doveadm_url, 'backend' = any (roles) as "isBackend",
      state = 'away' as "isAway"
    from mail_hosts where doveadm_url is not null order by name`.execute(db)
  return rows
}

export const doveadmOf = ({ name, doveadm_url }: DovecotHost, vault: Vault): Doveadm =>
  doveadmAt(doveadm_url, hostDoveadmKey(vault, name))

/** The ids of the hosts of these logins; a login without a mailbox is left out. */
export async function hostsOfLogins(db: Db, logins: readonly string[]) {
  const { rows } = await sql<{ login: string; host_id: string }>`
    select named.login, place.host_id
    from jsonb_array_elements_text(${JSON.stringify(logins)}::text::jsonb) as named (login)
    cross join lateral edge.place(named.login) as place
    where place.host_id is not null`.execute(db)
  return new Map(rows.map(({ login, host_id }) => [login, host_id]))
}

/** The ids of the hosts that have mailboxes of the organization of a domain. */
export async function hostsOfDomain(db: Db, domain: string): Promise<string[]> {
  const { rows } = await sql<{ host_id: string }>`
    select distinct p.host_id from mailbox_places p
    join domains d on d.organization_id = p.organization_id
    where d.domain = ${domain}`.execute(db)
  return rows.map(({ host_id }) => host_id)
}
