import { caldav } from '../../src/daemons/caldav.ts'
import { type App, PASSWORD, startApp } from './app.ts'

export { card, event, NEW_YORK, TOKYO, zone } from './dav-objects.ts'

type Send = { body?: string; headers?: Record<string, string>; from?: string }

/** An app with calendars and contacts. */
export async function startDav(env: Record<string, string> = {}, database?: { url: string }) {
  const app = await startApp({ env, daemons: [caldav], ...(database && { database }) })
  return {
    app,
    /** Sends requests with a login, as a calendar program does. */
    client: (email: string, password?: string) => davClient(app, email, password),
    stop: app.stop,
  }
}

export type DavClient = ReturnType<typeof davClient>

/** Sends requests with a login, as a calendar program does. */
export function davClient(app: Pick<App, 'send'>, email: string, password = PASSWORD) {
  const authorization = `Basic ${Buffer.from(`${email}:${password}`).toString('base64')}`
  const send = (method: string, path: string, { body, headers = {}, from }: Send = {}) =>
    app.send(method, path, {
      headers: { authorization, ...(body !== undefined && { 'content-type': XML }), ...headers },
      ...(body !== undefined && { raw: body }),
      ...(from && { from }),
    })
  return {
    send,
    get: (path: string, headers = {}) => send('GET', path, { headers }),
    put: (path: string, body: string, headers: Record<string, string> = {}) =>
      send('PUT', path, {
        body,
        headers: {
          'content-type': path.includes('/calendars/') ? 'text/calendar' : 'text/vcard',
          ...headers,
        },
      }),
    delete: (path: string, headers = {}) => send('DELETE', path, { headers }),
    propfind: (path: string, properties: string, depth = '0') =>
      send('PROPFIND', path, {
        body: `<D:propfind ${NAMESPACES}><D:prop>${properties}</D:prop></D:propfind>`,
        headers: { depth },
      }),
    report: (path: string, body: string, depth = '1') =>
      send('REPORT', path, { body, headers: { depth } }),
  }
}

const XML = 'application/xml; charset=utf-8'
export const NAMESPACES =
  'xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav" xmlns:A="urn:ietf:params:xml:ns:carddav" xmlns:S="http://calendarserver.org/ns/"'

/** The paths that a multistatus answer names. */
export const hrefsIn = (text: string): string[] =>
  [...text.matchAll(/<D:response><D:href>([^<]*)<\/D:href>/g)].map(([, path = '']) => path).sort()

/** The objects of a collection, as they are stored. */
export async function objectsIn(client: DavClient, collection: string): Promise<string[]> {
  const { text } = await client.propfind(collection, '<D:getetag/>', '1')
  const paths = hrefsIn(text).filter((path) => path !== collection)
  return Promise.all(paths.map(async (path) => (await client.get(path)).text))
}
