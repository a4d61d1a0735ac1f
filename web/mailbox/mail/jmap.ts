import { ApiError, sessionHeaders, UNREACHABLE } from '../../api/client.ts'
import { api } from '../api.ts'
import { Answers, type Call, filled } from './protocol.ts'
import type { Session } from './types.ts'

const CORE = 'urn:ietf:params:jmap:core'
export const MAIL = 'urn:ietf:params:jmap:mail'
const SUBMISSION = 'urn:ietf:params:jmap:submission'

let known: Promise<Session> | undefined

/** The session of JMAP, read once; after an error it is read anew. */
export function session(): Promise<Session> {
  known ??= send('GET', '/.well-known/jmap').then(
    (found) => found as Session,
    (error) => {
      known = undefined
      throw error
    },
  )
  return known
}

/** The account of the person, which has the identities. */
export const ownAccount = async (): Promise<string> => (await session()).primaryAccounts[MAIL] ?? ''

export const maxUpload = async (): Promise<number> =>
  (await session()).capabilities[CORE]?.maxSizeUpload ?? Number.POSITIVE_INFINITY

export async function jmap(...methodCalls: Call[]): Promise<Answers> {
  const { apiUrl } = await session()
  const answer = (await send('POST', filled(apiUrl, {}), {
    body: JSON.stringify({ using: [CORE, MAIL, SUBMISSION], methodCalls }),
    type: 'application/json',
  })) as { methodResponses: Call[] }
  return new Answers(answer.methodResponses)
}

export interface Uploaded {
  blobId: string
  type: string
  size: number
}

export async function upload(accountId: string, file: File): Promise<Uploaded> {
  const { uploadUrl } = await session()
  return (await send('POST', filled(uploadUrl, { accountId }), {
    body: file,
    type: file.type || 'application/octet-stream',
  })) as Uploaded
}

/** The URL of a part for the browser; the server sends it as a file to save. */
export async function downloadUrl(
  accountId: string,
  { blobId, name, type }: { blobId: string; name: string; type: string },
): Promise<string> {
  return filled((await session()).downloadUrl, { accountId, blobId, name, type })
}

/** The sanitized HTML of a message and the number of its remote pictures. */
export interface HtmlText {
  text: string
  remote_pictures: number
}

export const viewUrl = (accountId: string, blobId: string, withRemote: boolean): string =>
  `${viewPath(accountId, blobId)}${withRemote ? '?remote=true' : ''}`

export const htmlText = async (accountId: string, blobId: string): Promise<HtmlText> =>
  (await send('GET', `${viewPath(accountId, blobId)}/text`)) as HtmlText

const viewPath = (accountId: string, blobId: string) =>
  `/jmap/view/${encodeURIComponent(accountId)}/${encodeURIComponent(blobId)}`

interface Content {
  body: string | File
  type: string
}

async function send(method: string, url: string, content?: Content): Promise<unknown> {
  const answer = await fetch(url, {
    method,
    headers: {
      ...sessionHeaders(api.session, method),
      ...(content && { 'content-type': content.type }),
    },
    body: content?.body ?? null,
  }).catch(() => {
    throw new ApiError({ status: 0, message: UNREACHABLE })
  })
  const body = await answer.json().catch(() => undefined)
  if (answer.ok && body) return body
  if (answer.status === 401) api.session.onEnd()
  throw new ApiError({
    // An answer that is no JSON is that of a proxy whose server is away.
    status: answer.ok ? 502 : answer.status,
    message: body?.detail ?? body?.msg ?? `${answer.status} ${answer.statusText}`,
    correlationId: answer.headers.get('x-correlation-id') ?? undefined,
    retryAfter: Number(answer.headers.get('retry-after')) || undefined,
  })
}
