import type { SpamPolicy } from '../../hosting/spam-policy.repository.ts'

/** The settings of the recipients' domains, combined for one message. */
export interface SpamTreatment {
  /** The `Settings` of the scan; undefined when Rspamd decides by its own configuration. */
  settings: object | undefined
  rejectsSpam: boolean
}

const GREYLISTING = ['GREYLIST_CHECK', 'GREYLIST_SAVE']
const BLOCK_LISTS = ['rbl', 'surbl']
/** With a list of enabled symbols everything else is off, so the virus scanner is named too. */
const VIRUS_SCANNER = ['CLAM_VIRUS', 'CLAM_VIRUS_FAIL', 'CLAM_VIRUS_ENCRYPTED', 'CLAM_VIRUS_MACRO']

/**
 * A message is scanned once for all recipients: a check is left out, and spam rejected, only when all of
 * their domains want that.
 */
export function treatmentOf(policies: readonly SpamPolicy[]): SpamTreatment {
  const all = (name: keyof SpamPolicy, value: 0 | 1) =>
    policies.length > 0 && policies.every((policy) => policy[name] === value)
  const usesBlockLists = !all('policy_rbl', 0)
  const settings = {
    ...(all('policy_bl_only', 1)
      ? {
          ...(usesBlockLists && { groups_enabled: BLOCK_LISTS }),
          symbols_enabled: VIRUS_SCANNER,
        }
      : {
          ...(!usesBlockLists && { groups_disabled: BLOCK_LISTS }),
          ...(all('policy_greylist', 0) && { symbols_disabled: GREYLISTING }),
        }),
  }
  return {
    settings: Object.keys(settings).length > 0 ? settings : undefined,
    rejectsSpam: all('policy_reject_spam', 1),
  }
}
