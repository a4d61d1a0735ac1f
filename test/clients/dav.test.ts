import { execFile, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PASSWORD } from '../support/app.ts'
import { card, type DavClient, event, hrefsIn, startDav } from '../support/dav.ts'

const run = promisify(execFile)
const isInstalled = (name: string) => spawnSync(name, ['--version']).status === 0
const missing = isInstalled('vdirsyncer') ? '' : 'vdirsyncer is not installed'

describe.skipIf(missing)(`vdirsyncer${missing ? `: ${missing}` : ''}`, () => {
  let dav: Awaited<ReturnType<typeof startDav>>
  let me: DavClient
  let folder: string
  let calendar: string
  let contacts: string
  beforeAll(async () => {
    dav = await startDav()
    const acme = await dav.app.tenant('acme')
    me = dav.client(acme.email)
    calendar = `/dav/calendars/${acme.accountId}/calendar/`
    contacts = `/dav/addressbooks/${acme.accountId}/contacts/`
    folder = mkdtempSync(join(tmpdir(), 'mailplane-vdirsyncer-'))
    writeFileSync(join(folder, 'config'), configOf(dav.app.base, acme.email, folder))
    // It asks before it creates a folder.
    for (const name of ['calendars/calendar', 'addressbooks/contacts']) {
      mkdirSync(join(folder, name), { recursive: true })
    }
    await vdirsyncer('discover', '--no-list')
  })
  afterAll(async () => {
    await dav.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  const vdirsyncer = (...args: string[]) =>
    run('vdirsyncer', ['-c', join(folder, 'config'), ...args], { timeout: 300_000 })

  it('finds the collections and synchronizes both ways', async () => {
    await me.put(`${calendar}here.ics`, event('here', '20260105T120000Z', 'SUMMARY:From here'))
    await me.put(`${contacts}here.vcf`, card('here-card', 'Here'))
    const local = join(folder, 'calendars', 'calendar')
    const text = event('there', '20260106T120000Z', 'SUMMARY:From there')
    writeFileSync(join(local, 'there.ics'), text)
    await vdirsyncer('sync')
    const files = readdirSync(local).map((name) => readFileSync(join(local, name), 'utf8'))
    expect(files.filter((one) => one.includes('SUMMARY:From here'))).toHaveLength(1)
    const cards = join(folder, 'addressbooks', 'contacts')
    expect(readdirSync(cards)).toHaveLength(1)
    const stored = await me.propfind(calendar, '<D:getetag/>', '1')
    expect(hrefsIn(stored.text)).toHaveLength(3)
  })

  it('carries deletions over', async () => {
    // A collection that becomes empty has to be confirmed, so one object stays.
    await me.put(`${calendar}stays.ics`, event('stays', '20260107T120000Z'))
    await me.delete(`${calendar}here.ics`)
    await vdirsyncer('sync')
    const folderHere = join(folder, 'calendars', 'calendar')
    const local = readdirSync(folderHere)
    expect(local).toHaveLength(2)
    const there = local.find((name) => !readFileSync(join(folderHere, name)).includes('UID:stays'))
    rmSync(join(folderHere, there ?? ''))
    await vdirsyncer('sync')
    const left = await me.propfind(calendar, '<D:getetag/>', '1')
    expect(hrefsIn(left.text)).toEqual([calendar, `${calendar}stays.ics`])
  })
})

/** One pair of calendars and one of address books; the collections of the server are found by name. */
const configOf = (base: string, email: string, folder: string) => `
[general]
status_path = "${folder}/status/"

[pair calendars]
a = "calendars_local"
b = "calendars_remote"
collections = ["calendar"]

[storage calendars_local]
type = "filesystem"
path = "${folder}/calendars/"
fileext = ".ics"

[storage calendars_remote]
type = "caldav"
url = "${base}/"
username = "${email}"
password = "${PASSWORD}"

[pair contacts]
a = "contacts_local"
b = "contacts_remote"
collections = ["contacts"]

[storage contacts_local]
type = "filesystem"
path = "${folder}/addressbooks/"
fileext = ".vcf"

[storage contacts_remote]
type = "carddav"
url = "${base}/"
username = "${email}"
password = "${PASSWORD}"
`
