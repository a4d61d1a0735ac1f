import { execFile, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PASSWORD } from '../support/app.ts'
import { card, type DavClient, event, hrefsIn, objectsIn, startDav } from '../support/dav.ts'

const run = promisify(execFile)
const whyNot = (program: string) =>
  spawnSync(program, ['--version']).status === 0 ? '' : ` (skipped: ${program} is not installed)`
const noVdirsyncer = whyNot('vdirsyncer')
const noKhal = whyNot('khal')
const noKhard = whyNot('khard')

describe.skipIf(noVdirsyncer)(`vdirsyncer${noVdirsyncer}`, () => {
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

  /** Runs a program that reads and writes the folders of vdirsyncer. */
  const inFolders = async (program: string, config: string, ...args: string[]) => {
    const path = join(folder, `${program}.conf`)
    writeFileSync(path, config)
    const env = { PATH: process.env.PATH, HOME: folder, LANG: 'C.UTF-8', TZ: 'UTC' }
    return (await run(program, ['-c', path, ...args], { env, timeout: 300_000 })).stdout
  }

  it.skipIf(noKhal)(`carries events of khal over, and khal shows ours${noKhal}`, async () => {
    const khal = (...args: string[]) => inFolders('khal', khalConfig(folder), ...args)
    await me.put(`${calendar}ours.ics`, event('ours', '20260205T120000Z', 'SUMMARY:Ours'))
    await khal('new', '2026-02-06', '10:00', '11:00', 'Of khal')
    await vdirsyncer('sync')
    expect(await khal('list', '2026-02-05', '2d')).toMatch(/12:00.*Ours[\s\S]*10:00-11:00 Of khal/)
    expect((await objectsIn(me, calendar)).join()).toContain('SUMMARY:Of khal')
  })

  it.skipIf(noKhard)(`carries contacts of khard over, and khard shows ours${noKhard}`, async () => {
    const khard = (...args: string[]) => inFolders('khard', khardConfig(folder), ...args)
    await me.put(`${contacts}ours.vcf`, card('ours-card', 'Ours'))
    const file = join(folder, 'new-contact')
    writeFileSync(file, 'Formatted name: Of khard\nFirst name: Of\nLast name: khard\n')
    await khard('new', '-a', 'mine', '-i', file)
    await vdirsyncer('sync')
    const names = (await khard('list')).split('\n')
    expect(names.some((line) => line.includes('Ours'))).toBe(true)
    const cards = await objectsIn(me, contacts)
    expect(cards.filter((one) => one.includes('FN:Of khard'))).toHaveLength(1)
  })
})

const khalConfig = (folder: string) => `
[calendars]
[[mine]]
path = ${folder}/calendars/calendar

[locale]
timeformat = %H:%M
dateformat = %Y-%m-%d
longdateformat = %Y-%m-%d
datetimeformat = %Y-%m-%d %H:%M
longdatetimeformat = %Y-%m-%d %H:%M
local_timezone = UTC
default_timezone = UTC

[default]
default_calendar = mine

[sqlite]
path = ${folder}/khal.db
`

const khardConfig = (folder: string) => `
[addressbooks]
[[mine]]
path = ${folder}/addressbooks/contacts

[general]
editor = /bin/true
merge_editor = /bin/true
`

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
