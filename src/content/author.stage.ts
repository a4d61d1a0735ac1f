import type { Db } from '../database/database.ts'
import { senderRights } from '../hosting/sender-rights.repository.ts'
import type { Sender, Senders } from '../hosting/senders.ts'
import { toDomainName } from '../lib/domain-name.ts'
import { domainOf, localPartOf, withoutDetail } from '../lib/mail-address.ts'
import { type AuthorAddress, authorsIn } from '../mime/author-addresses.ts'
import { withHeaders } from '../mime/headers.ts'
import { MimeMessage } from '../mime/message.ts'
import type { Mail, Outcome, Stage } from './stage.ts'

interface Needs {
  db: Db
  senders: Pick<Senders, 'find'>
}

const MAX_AUTHORS = 50
const NAMES = { from: 'From', sender: 'Sender' } as const
/** Anything else in a domain, such as an encoded word, is read differently by different programs. */
const DOMAIN = /^[\p{L}\p{M}\p{N}._-]+$|^\[[^\]]*\]$/u

type Right = 'own' | 'on_behalf' | 'none'

/**
 * Checks the From and Sender headers of mail with a login: an address at a hosted domain must be one
 * that the login may send as. Postfix checks the envelope sender only.
 */
export function authorStage({ db, senders }: Needs): Stage {
  async function rightTo(login: Sender, written: string): Promise<Right> {
    const domain = toDomainName(domainOf(written))
    if (domain === undefined) return 'own'
    const address = `${localPartOf(written)}@${domain}`
    // A service of the installation sends for an address, which need not be a login.
    const name = login.login ? login.name : withoutDetail(login.name)
    const names = [...new Set([address, withoutDetail(address)])]
    if (names.includes(name)) return 'own'
    const host = await senders.find(address, 'outbound')
    if (!host) return 'own'
    const isOfCredential =
      login.login?.kind === 'smtp_credential' &&
      login.organizationId === host.organizationId &&
      login.domain === domain
    if (isOfCredential) return 'own'
    const [right] = await senderRights(db, name, names)
    if (!right) return 'none'
    return right.on_behalf ? 'on_behalf' : 'own'
  }

  async function check(mail: Mail, name: string): Promise<Outcome> {
    const { addresses, empty, isTooLong } = authorsIn(mail.message.headers)
    if (isTooLong) return refusal('5.6.0 the From or Sender header is too long')
    if (empty) return refusal(`5.6.0 the ${NAMES[empty]} header has no e-mail address`)
    if (addresses.length > MAX_AUTHORS)
      return refusal('5.6.0 the From header has too many addresses')
    const login = await senders.find(name, 'outbound')
    if (!login) return refusal('5.7.1 the login is not known here')
    let isOnBehalf = false
    for (const author of distinct(addresses)) {
      const where = `the ${NAMES[author.field]} header has ${author.address}`
      if (!DOMAIN.test(domainOf(author.address)))
        return refusal(`5.6.0 ${where}, which is malformed`)
      const right = await rightTo(login, author.address)
      if (right === 'none') return refusal(`5.7.1 ${where}, which this login may not send as`)
      isOnBehalf ||= right === 'on_behalf'
    }
    return passed(isOnBehalf ? await withSender(mail, name) : mail)
  }

  return {
    name: 'author',
    apply: async (mail) =>
      mail.direction === 'outbound' && mail.login !== undefined
        ? check(mail, mail.login.toLowerCase())
        : passed(mail),
  }
}

/** RFC 5322 §3.6.2: Sender names the person who sends for the author. */
async function withSender(mail: Mail, login: string): Promise<Mail> {
  const others = mail.message.headers.filter(({ name }) => name !== 'sender')
  const headers = [...others, { name: 'sender', line: `Sender: <${login}>\r\n` }]
  return { ...mail, message: new MimeMessage(await withHeaders(mail.message.raw, headers)) }
}

const distinct = (authors: readonly AuthorAddress[]): AuthorAddress[] => [
  ...new Map(authors.map((author) => [author.address, author])).values(),
]
const passed = (mail: Mail): Outcome => ({ kind: 'pass', mails: [mail] })
const refusal = (text: string): Outcome => ({ kind: 'reject', text })
