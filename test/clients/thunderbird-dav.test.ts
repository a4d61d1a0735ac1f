import { existsSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PASSWORD } from '../support/app.ts'
import {
  type ClientNetwork,
  clientNetworkMissing,
  startClientNetwork,
} from '../support/client-network.ts'
import { card, type DavClient, event, hrefsIn, objectsIn, startDav } from '../support/dav.ts'
import { inThunderbird } from '../support/thunderbird.ts'
import { waitFor } from '../support/wait.ts'

const HOST = 'mail.host.test'
const reason = existsSync('/usr/bin/thunderbird')
  ? clientNetworkMissing
  : '/usr/bin/thunderbird is not installed'

describe.skipIf(reason)(`Thunderbird${reason ? ` (skipped: ${reason})` : ''}`, () => {
  let network: ClientNetwork
  let dav: Awaited<ReturnType<typeof startDav>>
  let acme: Awaited<ReturnType<typeof dav.app.tenant>>
  let me: DavClient
  let calendar: string
  let contacts: string
  beforeAll(async () => {
    network = await startClientNetwork([HOST])
    network.dns.state.records = { [HOST]: { A: [network.host] } }
    dav = await startDav({ SVC_PUBLIC_URL: `https://${HOST}` })
    network.leadTo(dav.app.base)
    acme = await dav.app.tenant('acme')
    me = dav.client(acme.email)
    calendar = `/dav/calendars/${acme.accountId}/calendar/`
    contacts = `/dav/addressbooks/${acme.accountId}/contacts/`
  })
  afterAll(async () => {
    await dav?.stop()
    await network?.stop()
  })

  const stored = async (collection: string) => (await objectsIn(me, collection)).join()

  it('finds calendars and contacts by the name of the host, and synchronizes both ways', async () => {
    await me.put(`${calendar}here.ics`, event('here', '20260105T120000Z', 'SUMMARY:From here'))
    await me.put(`${calendar}gone.ics`, event('gone', '20260106T120000Z', 'SUMMARY:Gone'))
    await me.put(`${contacts}here.vcf`, card('here-card', 'Here'))
    const there = event('there', '20260107T120000Z', 'SUMMARY:From there')
    const running = inThunderbird(
      network,
      `const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
      const until = async (look) => {
        for (;;) { const found = await look(); if (found) return found; await sleep(200) }
      };
      const { cal } = ChromeUtils.importESModule('resource:///modules/calendar/calUtils.sys.mjs');
      const { CalEvent } = ChromeUtils.importESModule('resource:///modules/CalEvent.sys.mjs');
      const { CalDavProvider } = ChromeUtils.importESModule('resource:///modules/CalDavProvider.sys.mjs');
      const { CardDAVUtils } = ChromeUtils.importESModule('resource:///modules/CardDAVUtils.sys.mjs');
      // The protocol that runs this script turns the memory for passwords off.
      Services.prefs.setBoolPref('signon.rememberSignons', true);
      const login = ['${acme.email}', ${JSON.stringify(PASSWORD)}, 'https://${HOST}'];

      async function calendars() {
        const found = await CalDavProvider.detectCalendars(...login, true);
        const [calendar] = found.filter(({ uri }) => uri.filePath === '${calendar}');
        await until(async () => (await Services.logins.getAllLogins()).length > 0);
        cal.manager.registerCalendar(calendar);
        const filter = Ci.calICalendar.ITEM_FILTER_ALL_ITEMS;
        const items = () => calendar.getItemsAsArray(filter, 0, null, null);
        const titled = async (title) => (await items()).find((item) => item.title === title);
        const here = await until(() => titled('From here'));
        await calendar.addItem(new CalEvent(${JSON.stringify(there)}));
        const changed = here.clone();
        changed.title = 'Changed there';
        await calendar.modifyItem(changed, here);
        await calendar.deleteItem(await titled('Gone'));
        await until(() => { calendar.refresh(); return titled('Changed here') });
        return (await items()).map(({ title }) => title).sort();
      }

      async function contacts() {
        const found = await CardDAVUtils.detectAddressBooks(...login, false, true);
        const [book] = found.filter(({ url }) => url.pathname === '${contacts}');
        const directory = await book.create();
        const named = (name) => directory.childCards.find((card) => card.displayName === name);
        await until(() => named('Here'));
        const card = Cc['@mozilla.org/addressbook/cardproperty;1'].createInstance(Ci.nsIAbCard);
        card.displayName = 'There';
        directory.addCard(card);
        await until(async () => { await directory.syncWithServer(false); return named('Later') });
        return directory.childCards.map((card) => card.displayName).sort();
      }

      (async () => ({ titles: await calendars(), names: await contacts() }))()
        .then(done, (error) => done(String(error) + error.stack));`,
    )
    const changedHere = async () => {
      await waitFor(async () => {
        const text = await stored(calendar)
        return /From there/.test(text) && /Changed there/.test(text) && !/Gone/.test(text)
      })
      const { text } = await me.propfind(calendar, '<D:getetag/>', '1')
      const path = hrefsIn(text).find((one) => one.includes('there')) ?? ''
      await me.put(path, there.replace('From there', 'Changed here'))
      await waitFor(async () => (await stored(contacts)).includes('FN:There'))
      await me.put(`${contacts}later.vcf`, card('later-card', 'Later'))
    }
    const [found] = await Promise.all([running, changedHere()])
    expect(found).toEqual({
      titles: ['Changed here', 'Changed there'],
      names: ['Here', 'Later', 'There'],
    })
  })
})
