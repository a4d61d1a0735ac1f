const en = {
  groups: { mail: 'Mail', sending: 'Sending', settings: 'Settings' },
  domain: 'Domain',
  mailbox: 'Mailbox',
}

const de: typeof en = {
  groups: { mail: 'Mail', sending: 'Versand', settings: 'Einstellungen' },
  domain: 'Domain',
  mailbox: 'Postfach',
}

export const t: typeof en = LANGUAGE === 'de' ? de : en
