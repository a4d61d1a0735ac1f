import { type FoundLink, rewriteMessage, rewritePage } from '../../../content/links/rewrite.ts'
import { bufferOf, shared } from '../../../lib/shared-bytes.ts'
import { MimeMessage } from '../../../mime/message.ts'
import { type LinkKey, MAX_ADDRESS_BYTES, readSafePath, safePath } from './safe-links.ts'

interface Input {
  /** A message, or an HTML page. */
  content: Uint8Array | string
  /** The public URL of this service, up to `/safe/`. */
  base: string
  organizationId: string
  key: LinkKey
  /** Hosts whose links stay, with all names below them. */
  allowed: readonly string[]
}

interface Done {
  found: number
  rewritten: number
  /** The message with other links, if it has any. */
  message?: Uint8Array
  /** The page, when one was sent. */
  page?: string
}

/** Replaces the links of a message or page; undefined if it must pass unchanged. Runs in a thread. */
export default ({ content, base, organizationId, key, allowed }: Input): Done | undefined => {
  const keyOf = (id: number) => (id === key.id ? key : undefined)
  const known = new Map<string, string>()

  /** A link that leads over this service for the same organization already. */
  const isOwn = (address: string): boolean =>
    address.startsWith(base) &&
    readSafePath(address.slice(base.length), keyOf)?.organizationId === organizationId

  function rewrite({ address, url, isForm }: FoundLink): string | undefined {
    if (Buffer.byteLength(address) > MAX_ADDRESS_BYTES || isOwn(address)) return undefined
    const host = url.hostname.replace(/\.$/, '')
    const isUsual = url.username === '' && url.password === ''
    if (isUsual && allowed.some((name) => host === name || host.endsWith(`.${name}`))) {
      return undefined
    }
    const name = `${isForm} ${address}`
    const before = known.get(name)
    if (before !== undefined) return before
    const path = base + safePath(key, { organizationId, address, isForm })
    known.set(name, path)
    return path
  }

  if (typeof content === 'string') {
    const { result, found, rewritten } = rewritePage(content, rewrite)
    return { page: result, found, rewritten }
  }
  const done = rewriteMessage(new MimeMessage(bufferOf(content)), rewrite)
  if (!done) return undefined
  const { found, rewritten, result } = done
  return { found, rewritten, ...(rewritten > 0 && { message: shared(result.raw) }) }
}
