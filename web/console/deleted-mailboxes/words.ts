const en = {
  hint: 'Deleted mailboxes whose mail is still on disk.',
  search: 'Search by address',
  mailbox: 'Mailbox',
  organization: 'Organization',
  deleted: 'Deleted',
  purge: 'Mail goes after',
  state: 'State',
  held: 'Kept by a legal hold',
  attempts: (count: number) => `Failed attempts: ${count}`,
  none: 'No deleted mailboxes',
}

const de: typeof en = {
  hint: 'Gelöschte Postfächer, deren Mail noch gespeichert ist.',
  search: 'Nach Adresse suchen',
  mailbox: 'Postfach',
  organization: 'Organisation',
  deleted: 'Gelöscht',
  purge: 'Mail entfällt nach',
  state: 'Zustand',
  held: 'Von einer Aufbewahrungspflicht gehalten',
  attempts: (count) => `Fehlversuche: ${count}`,
  none: 'Keine gelöschten Postfächer',
}

export const t: typeof en = LANGUAGE === 'de' ? de : en
