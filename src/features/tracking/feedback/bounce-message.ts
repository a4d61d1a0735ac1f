import { MimeMessage } from '../../../mime/message.ts'
import { type FailedDelivery, readDeliveryReport } from '../../../mime/reports.ts'
import { type BounceType, bounceType } from '../../mail-log/bounce-type.ts'

/** A recipient that a message did not reach. */
export interface Bounced {
  recipient: string
  bounce_type: BounceType
  bounce_reason: string
}

export interface BounceMessage {
  bounced: Bounced[]
  /** The ids in the returned message. */
  email_id: string | undefined
  tracking_id: string | undefined
}

/** Reads a bounce. A delayed recipient has not bounced. */
export function readBounce(raw: Buffer): BounceMessage {
  const { failures, envelopeId, original } = readDeliveryReport(new MimeMessage(raw))
  const unsubscribe = original.listUnsubscribe ?? ''
  return {
    bounced: failures.map(bouncedFrom),
    email_id: original.messageId,
    tracking_id: /\/tracking\/unsubscribe\/([\w-]+)/.exec(unsubscribe)?.[1] ?? envelopeId,
  }
}

const STATUS = /\b[45]\.\d{1,3}\.\d{1,3}\b/

/** The type follows from the status of the report, or else from the one in the diagnostic text. */
const bouncedFrom = ({ recipient, status, diagnostic }: FailedDelivery): Bounced => {
  const code = STATUS.exec(status)?.[0] ?? STATUS.exec(diagnostic)?.[0] ?? null
  return {
    recipient,
    bounce_type: bounceType(code, diagnostic),
    bounce_reason: diagnostic || status || 'failed',
  }
}
