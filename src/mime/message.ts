import { type HeaderLine, headersOf } from './headers.ts'
import { type Attachment, attachmentOf, fieldText, isAttachment, isEncrypted } from './parts.ts'
import { readStructure, type Structure } from './structure.ts'

const MAX_MESSAGE_ID = 500
const MAX_FIELDS = 100

/** Facts about a message that need none of its text. */
interface MessageSummary {
  subject: string
  /** E-mail addresses of the From field, in lower case. */
  from: string[]
  sizeBytes: number
  attachments: Attachment[]
  isEncrypted: boolean
}

/**
 * The bytes of a message, parsed on first use and then kept. It never changes: an edit returns
 * another message, so a parsed message can be handed from stage to stage.
 */
export class MimeMessage {
  readonly raw: Buffer
  #headers: readonly HeaderLine[] | undefined
  #structure: Structure | undefined
  #summary: MessageSummary | undefined

  constructor(raw: Buffer) {
    this.raw = raw
  }

  /** The header lines as they are written. */
  get headers(): readonly HeaderLine[] {
    this.#headers ??= headersOf(this.raw)
    return this.#headers
  }

  get structure(): Structure {
    this.#structure ??= readStructure(this.raw)
    return this.#structure
  }

  get summary(): MessageSummary {
    this.#summary ??= this.#summarize()
    return this.#summary
  }

  /** The first field of that name, unfolded and decoded. */
  field(name: string): string | undefined {
    const first = this.headers.find((header) => header.name === name.toLowerCase())
    return first && fieldText(first.line)
  }

  /** Every field of that name, unfolded and decoded. */
  fields(name: string): string[] {
    return this.headers
      .filter((header) => header.name === name.toLowerCase())
      .slice(0, MAX_FIELDS)
      .map(({ line }) => fieldText(line))
  }

  get messageId(): string | null {
    return this.field('message-id')?.slice(0, MAX_MESSAGE_ID) || null
  }

  #summarize(): MessageSummary {
    const { root, parts } = this.structure
    return {
      subject: this.field('subject') ?? '',
      from: this.fields('from').flatMap(addressesIn),
      sizeBytes: this.raw.length,
      attachments: parts.filter(isAttachment).map(attachmentOf),
      isEncrypted: isEncrypted(root),
    }
  }
}

const addressesIn = (text: string): string[] =>
  (text.match(/[^\s<>"(),;:]{1,64}@[^\s<>"(),;:]{1,255}/g) ?? []).map((one) => one.toLowerCase())
