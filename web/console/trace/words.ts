const en = {
  title: 'Message trace',
  one: 'Message',
  none: 'No mail has been traced yet',
  noneHint: 'Each delivery of the mail servers appears here a moment after it was tried.',
  quarantined: 'Open in quarantine',
  byConsole: (who: string) => `by ${who}`,
}

const de: typeof en = {
  title: 'Nachrichtenverfolgung',
  one: 'Nachricht',
  none: 'Noch keine Mail verfolgt',
  noneHint: 'Jeder Zustellversuch der Mailserver erscheint hier kurz danach.',
  quarantined: 'In der Quarantäne öffnen',
  byConsole: (who) => `durch ${who}`,
}

export const t: typeof en = LANGUAGE === 'de' ? de : en
