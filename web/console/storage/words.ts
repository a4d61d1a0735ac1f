const en = {
  title: 'Storage',
  used: 'Used',
  usedBy: (name: string) => `Storage of ${name}`,
  domains: 'Domains',
  mailboxes: 'Mailboxes',
  topDomains: 'Domains that use most',
  topMailboxes: 'Mailboxes that use most',
  domain: 'Domain',
  mailbox: 'Mailbox',
  storage: 'Storage',
  none: 'Nothing is stored yet',
  noneHint: 'Usage appears after the first mail was counted.',
}

const de: typeof en = {
  title: 'Speicher',
  used: 'Belegt',
  usedBy: (name) => `Speicher von ${name}`,
  domains: 'Domains',
  mailboxes: 'Postfächer',
  topDomains: 'Domains mit dem größten Verbrauch',
  topMailboxes: 'Postfächer mit dem größten Verbrauch',
  domain: 'Domain',
  mailbox: 'Postfach',
  storage: 'Speicher',
  none: 'Noch nichts gespeichert',
  noneHint: 'Der Verbrauch erscheint, sobald die erste Mail gezählt ist.',
}

export const t: typeof en = LANGUAGE === 'de' ? de : en
