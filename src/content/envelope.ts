import type { Client } from '../mail/handover.ts'
import { xtext } from '../mail/smtp-conversation.ts'

/** A message with its envelope, as Postfix has handed it over. */
export interface Arrived {
  sender: string
  /** Behind MAIL FROM, to be said again: `RET=HDRS`. */
  parameters: readonly string[]
  recipients: readonly { address: string; parameters: readonly string[] }[]
  client: Client
  raw: Buffer
}

/** What is said in answer to a message. */
export interface Answer {
  code: number
  /** With its enhanced code: `5.7.1 why`. */
  text: string
}

// What the next server is told as well. SIZE is measured anew; BODY is said in any case.
const OF_SENDER = ['RET', 'ENVID', 'SMTPUTF8']
const OF_RECIPIENT = ['NOTIFY', 'ORCPT']

type Arguments = Record<string, string | true> | false

const kept = (names: readonly string[], given: Arguments): string[] =>
  names.flatMap((name) => {
    const value = given === false ? undefined : given[name]
    if (value === undefined) return []
    return value === true ? [name] : [`${name}=${encoded(name, value)}`]
  })

/** They were decoded when they were read. */
function encoded(name: string, value: string): string {
  if (name === 'ENVID') return xtext(value)
  if (name !== 'ORCPT') return value
  const type = value.slice(0, value.indexOf(';') + 1)
  return `${type}${xtext(value.slice(type.length))}`
}

export const senderParameters = (given: Arguments): string[] => [
  'BODY=8BITMIME',
  ...kept(OF_SENDER, given),
]
export const recipientParameters = (given: Arguments): string[] => kept(OF_RECIPIENT, given)
