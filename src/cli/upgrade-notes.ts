import type { UpgradeReport } from '../upgrade.ts'

/** Says on standard error what an upgrade does; the result goes to standard output. */
export const upgradeNotes: UpgradeReport = {
  migration: ({ migration, state, ms }) =>
    void process.stderr.write(`${migration}: ${state} (${ms} ms)\n`),
  backup: (path) => void process.stderr.write(`backup before the migration: ${path}\n`),
}
