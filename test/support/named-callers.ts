import { sql } from 'kysely'
import { words } from '../../src/features/compliance/personal-data/personal-table.ts'
import { register } from '../../src/features/compliance/personal-data/register.ts'
import { ulid } from '../../src/lib/ulid.ts'
import type { App } from './app.ts'
import { insertMailbox } from './mailboxes.ts'

type Tenant = Awaited<ReturnType<App['tenant']>>

/** Rows for the tables that name callers and that a new tenant has no rows in. */
async function insertRows({ core: { db } }: App, tenant: Tenant, accountId: string) {
  const { organizationId: organization, domain, domainId } = tenant
  const id = ulid()
  const name = id.toLowerCase()
  const rows = [
    sql`insert into shared_mailboxes (id, organization_id, domain_id, email, name)
      values (${id}, ${organization}, ${domainId}, ${`${name}@${domain}`}, 'Desk')`,
    sql`insert into shared_mailbox_members
        (id, shared_mailbox_id, email_account_id, permission)
      values (${id}, ${id}, ${accountId}, 'read_only')`,
    sql`insert into templates
        (id, organization_id, name, subject_template, html_content, plaintext_content, content_hash)
      values (${id}, ${organization}, ${name}, '', '', '', '')`,
    sql`insert into template_versions (id, template_id, version, subject_template, html_content,
        plaintext_content, content_hash, size_bytes, author)
      values (${id}, ${id}, 1, '', '', '', '', 0, '')`,
    sql`insert into oauth_clients (id, organization_id, name, client_type, grant_types)
      values (${id}, ${organization}, 'x', 'public', '{}')`,
    sql`insert into smtp_credentials (id, organization_id, domain_id, username, secret_hash)
      values (${`${id}-c`}, ${organization}, ${domainId}, ${`${name}-smtp@${domain}`}, 'x')`,
    sql`insert into ip_access_rules (id, organization_id, ip_address, rule_type, active)
      values (${id}, ${organization}, '192.0.2.77', 'blacklist', false)`,
    sql`insert into url_blocklist (id, organization_id, entry_type, entry)
      values (${id}, ${organization}, 'domain', 'x.test')`,
    sql`insert into rate_limit_rules (organization_id, entity_type, identifier, direction, set_by,
        second_limit, minute_limit, hourly_limit, daily_limit, monthly_limit, warning_threshold,
        critical_threshold, description, created_by)
      values (${organization}, 'domain', ${domain}, 'inbound', 'tenant', 0, 0, 0, 0, 0, 80, 90, '', '')`,
    sql`insert into quarantine (id, organization_id, reason, expires_at)
      values (${id}, ${organization}, 'spam', '2999-01-01')`,
    sql`insert into blocked_senders (id, organization_id, sender, reason, created_by)
      values (${id}, ${organization}, 'far@far.test', 'x', '')`,
    sql`insert into archive_jobs (id, organization_id, kind, status, created_by)
      values (${id}, ${organization}, 'rekey', 'completed', '')`,
    sql`insert into mail_hosts
        (id, name, roles, state, address, imap_port, pop3_port, sieve_port, lmtp_port, sync_port)
      values (${id}, ${name}, '{backend}', 'away', '127.0.0.1', 1, 1, 1, 1, 1)`,
    sql`insert into mailbox_moves (mailbox_id, organization_id, source_id, target_id, state)
      values (${accountId}, ${organization}, ${id}, ${id}, 'done')`,
    sql`insert into data_exports (id, organization_id, user_email, requested_by, status)
      values (${id}, ${organization}, 'far@far.test', '', 'failed')`,
  ]
  for (const row of rows) await row.execute(db)
}

/** Makes a person the caller in every column of the register that names callers, in each form. */
export async function nameAsCaller(app: App, tenant: Tenant, email: string): Promise<void> {
  const forms = [email, `user:${email}`, `mailbox:${email}`]
  const { id } = await insertMailbox(app, tenant)
  await insertRows(app, tenant, id)
  for (const { table, actors = '' } of register) {
    for (const column of words(actors)) {
      const form = forms.push(forms.shift() as string) && forms[0]
      const { numAffectedRows } = await sql`
        update ${sql.table(table)} set ${sql.ref(column)} = ${form}`.execute(app.core.db)
      if (!numAffectedRows) throw new Error(`no row in ${table}`)
    }
  }
}
