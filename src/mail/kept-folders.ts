/** The folders of messages that were expunged under a legal hold. Only the control plane sees them. */
export const KEPT_PREFIX = '.KEPT/'

export const KEPT_FOLDERS = `${KEPT_PREFIX}*`
