const en = {
  hint: 'Mailboxes and domains that could not be set up on the mail host.',
  any: 'Mailboxes and domains',
  types: { mailbox: 'Mailbox', domain: 'Domain' },
  name: 'Name',
  type: 'Kind',
  organization: 'Organization',
  error: 'Error',
  attempts: 'Attempts',
  retry: 'Try again',
  retryTitle: (name: string) => `Try ${name} again?`,
  retryHint: 'It is set up within the next seconds.',
  retried: (name: string) => `${name} is tried again`,
  none: 'No failures',
}

const de: typeof en = {
  hint: 'Postfächer und Domains, die auf dem Mailserver nicht eingerichtet werden konnten.',
  any: 'Postfächer und Domains',
  types: { mailbox: 'Postfach', domain: 'Domain' },
  name: 'Name',
  type: 'Art',
  organization: 'Organisation',
  error: 'Fehler',
  attempts: 'Versuche',
  retry: 'Erneut versuchen',
  retryTitle: (name) => `${name} erneut versuchen?`,
  retryHint: 'Die Einrichtung beginnt in den nächsten Sekunden.',
  retried: (name) => `${name} wird erneut versucht`,
  none: 'Keine Fehler',
}

export const t: typeof en = LANGUAGE === 'de' ? de : en
