import type { Client } from '../mail/handover.ts'
import { xtext } from '../mail/smtp-conversation.ts'

/** A message with its envelope, as received from Postfix. */
export interface ReceivedMail {
  sender: string
  /** Parameters of MAIL FROM that are passed on, such as `RET=HDRS`. */
  parameters: readonly string[]
  recipients: readonly { address: string; parameters: readonly string[] }[]
  client: Client
  raw: Buffer
}

export interface SmtpReply {
  code: number
  /** With its enhanced status code: `5.7.1 why`. */
  text: string
}

// SIZE is left out because a stage may change the message.
const SENDER_PARAMETERS = ['RET', 'ENVID', 'SMTPUTF8']
const RECIPIENT_PARAMETERS = ['NOTIFY', 'ORCPT']

type Arguments = Record<string, string | true> | false

export const senderParameters = (args: Arguments): string[] => [
  'BODY=8BITMIME',
  ...selected(SENDER_PARAMETERS, args),
]
export const recipientParameters = (args: Arguments): string[] =>
  selected(RECIPIENT_PARAMETERS, args)

const selected = (names: readonly string[], args: Arguments): string[] =>
  names.flatMap((name) => {
    const value = args === false ? undefined : args[name]
    if (value === undefined) return []
    return value === true ? [name] : [`${name}=${encoded(name, value)}`]
  })

/** smtp-server has decoded the value, so xtext (RFC 3461 §4) must be encoded again. */
function encoded(name: string, value: string): string {
  if (name === 'ENVID') return xtext(value)
  if (name !== 'ORCPT') return value
  const type = value.slice(0, value.indexOf(';') + 1)
  return `${type}${xtext(value.slice(type.length))}`
}
