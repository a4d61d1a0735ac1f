const en = {
  title: 'Messages',
  one: 'Message',
  directions: { outbound: 'Sent', inbound: 'Received' },
  anyDirection: 'Sent and received',
  none: 'No mail yet',
  noneHint:
    'What your organization sends and receives appears here a moment later, with what became of it.',
  firstMail: 'Send with a program',
  credential: 'SMTP credential',
  suppressed: 'Show suppressions',
  decisions: {
    release_quarantined_message: 'Released from quarantine',
    delete_quarantined_message: 'Deleted from quarantine',
    block_quarantined_message: 'Sender blocked',
  } as Record<string, string>,
  byHost: 'by your mail provider',
  engagement: {
    opened: 'Opened',
    clicked: 'Link followed',
    unsubscribed: 'Unsubscribed',
    complained: 'Called spam',
  } as Record<string, string>,
  automated: 'by a program, not a person',
}

const de: typeof en = {
  title: 'Nachrichten',
  one: 'Nachricht',
  directions: { outbound: 'Gesendet', inbound: 'Empfangen' },
  anyDirection: 'Gesendet und empfangen',
  none: 'Noch keine Mail',
  noneHint:
    'Was Ihre Organisation sendet und empfängt, erscheint hier kurz danach, mit dem Ergebnis.',
  firstMail: 'Mit einem Programm senden',
  credential: 'SMTP-Zugang',
  suppressed: 'Sperrliste zeigen',
  decisions: {
    release_quarantined_message: 'Aus der Quarantäne freigegeben',
    delete_quarantined_message: 'Aus der Quarantäne gelöscht',
    block_quarantined_message: 'Absender gesperrt',
  },
  byHost: 'durch Ihren Mailanbieter',
  engagement: {
    opened: 'Geöffnet',
    clicked: 'Link geöffnet',
    unsubscribed: 'Abgemeldet',
    complained: 'Als Spam gemeldet',
  },
  automated: 'durch ein Programm',
}

export const t: typeof en = LANGUAGE === 'de' ? de : en
