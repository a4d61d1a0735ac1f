import type { Caller } from '../../../access/caller.ts'
import type { MailCredential } from '../../../access/mail-credentials.ts'
import type { Core } from '../../../core.ts'
import type { VacationService } from '../../mailbox/vacation/vacation.service.ts'
import type { Blobs } from '../blobs/blobs.service.ts'
import type { AccountHolder, MailAccount } from '../index/accounts.repository.ts'
import type { MailStore, OpenMail } from '../index/open-mail.ts'
import type { PushSender } from '../push/push-sender.ts'
import type { Sender } from '../submission/send.ts'
import type { Arguments } from './arguments.ts'

/** The services that the JMAP methods use. */
export interface JmapParts {
  core: Core
  store: MailStore
  blobs: Blobs
  sender: Sender
  vacation: VacationService
  pushes: PushSender
}

/** A mailbox holder who is logged in, with the accounts that they can use. */
export interface Login {
  holder: AccountHolder
  accounts: MailAccount[]
  credential: MailCredential
  /** The request that carried the credential. */
  caller: Caller
}

/** One method call of a request. */
export interface Call extends JmapParts {
  login: Login
  mail: OpenMail
  /** The account that /copy copies from. */
  source: OpenMail | undefined
  createdIds: Map<string, string>
  /** Bytes that the answer may have. */
  room(): number
  /** Runs another method after this one; its answer follows with the same id. */
  also(name: string, answer: Arguments): void
}

export interface Method {
  capability: string
  /** True for a method that changes the account; a read-only account refuses it. */
  isWriting?: boolean
  run(call: Call, args: Arguments): Promise<object>
}

/** A method that needs no account, such as Core/echo. */
export interface PlainMethod {
  capability: string
  isWriting?: boolean
  runPlain(parts: JmapParts, login: Login, args: Arguments): Promise<object>
}
