import { type BounceMessage, readBounce } from './bounce-message.ts'

/** Parses a message of up to 16 MB: runs in a worker thread. */
export default (content: string): BounceMessage => readBounce(Buffer.from(content))
