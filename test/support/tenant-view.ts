import { sql } from 'kysely'
import type { App } from './app.ts'
import { openImap } from './imap-client.ts'
import { openManageSieve } from './managesieve-client.ts'

/** All rows of an organization in every table, as text that begins with the name of the table. */
export async function rowsOfOrganization(app: App, organizationId: string): Promise<string[]> {
  const { db } = app.core
  const { rows: tables } = await sql<{ name: string; key: string }>`
    select c.table_name as name, min(c.column_name) as key
    from information_schema.columns c
    join information_schema.tables t using (table_schema, table_name)
    where c.table_schema = 'public' and t.table_type = 'BASE TABLE'
      and c.column_name in ('organization_id', 'org_id')
    group by c.table_name order by c.table_name`.execute(db)
  const all: string[] = []
  for (const { name, key } of tables) {
    const { rows } = await sql<{ row: object }>`
      select to_jsonb(one) as row from ${sql.table(name)} one
      where to_jsonb(one) ->> ${key}::text = ${organizationId}`.execute(db)
    all.push(...rows.map(({ row }) => `${name} ${JSON.stringify(row)}`))
  }
  return all.sort()
}

interface Ports {
  imaps: number
  sieve: number
}

/** The view of the holder of a mailbox over IMAP and ManageSieve. */
export async function holderView({ imaps, sieve }: Ports, email: string, password: string) {
  const imap = await openImap({ port: imaps })
  await imap.login(email, password)
  const view: string[] = []
  const look = async (text: string) => {
    const { lines, status } = await imap.command(text)
    // Hints from the index, which Dovecot may not have written yet. STATUS has the figures.
    const shown = lines.map((line) => line.replace(/ \\(Un)?Marked/i, '')).sort()
    view.push(`${text}: ${[...shown, status.split(' ')[0]].join(' | ')}`)
    return shown
  }
  for (const text of ['NAMESPACE', 'LSUB "" "*"', 'GETQUOTAROOT INBOX']) await look(text)
  const folders = (await look('LIST "" "*"'))
    // Dovecot 2.3 crashes on MYRIGHTS of the prefix of a shared namespace.
    .filter((line) => !/\\(Noselect|NonExistent)/i.test(line))
    .map((line) => / "?([^"]+)"?$/.exec(line)?.[1] ?? '')
  for (const folder of folders) {
    await look(`MYRIGHTS "${folder}"`)
    await look(`STATUS "${folder}" (MESSAGES UNSEEN UIDNEXT)`)
  }
  imap.end()
  const scripts = await openManageSieve(sieve)
  await scripts.login(email, password)
  const listed = await scripts.command('LISTSCRIPTS')
  view.push(...listed)
  for (const line of listed) {
    const name = /^"([^"]+)"/.exec(line)?.[1]
    if (name) view.push(...(await scripts.command(`GETSCRIPT "${name}"`)))
  }
  scripts.end()
  return view
}
