import type { Core } from '../../core.ts'
import { pieceOf } from './quarantine.repository.ts'

/** The purpose under which quarantined messages are sealed. */
export const PURPOSE = 'quarantine'

/** The pieces of a quarantined message; none when it is no longer stored. */
export async function* storedPieces({ db, vault }: Pick<Core, 'db' | 'vault'>, id: string) {
  for (let piece = 0; ; piece++) {
    const sealed = await pieceOf(db, id, piece)
    if (!sealed) return
    yield Buffer.from(vault.open(PURPOSE, sealed), 'latin1')
  }
}
