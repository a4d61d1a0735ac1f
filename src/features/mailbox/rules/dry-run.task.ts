import { dryRun, type Message, type Settings } from '../../../sieve/dry-run.ts'

interface Input {
  message: Message
  settings: Settings
  ownAddress: string
}

/** Text × patterns × rules: runs in a worker thread. */
export default ({ message, settings, ownAddress }: Input) => dryRun(message, settings, ownAddress)
