const en = {
  brand: 'My mailbox',
  groups: { mail: 'Mail', security: 'Security' },
  foreign: 'A filter script made with another program is in use. Saving here replaces it.',
}

const de: typeof en = {
  brand: 'Mein Postfach',
  groups: { mail: 'Mail', security: 'Sicherheit' },
  foreign: 'Ein Filter aus einem anderen Programm ist in Gebrauch. Speichern ersetzt ihn.',
}

export const t: typeof en = LANGUAGE === 'de' ? de : en
