const en = {
  title: 'Vacation reply',
  hint: 'People who write to you get this reply, at most once a day each.',
  enabled: 'Send a reply',
  subject: 'Subject',
  message: 'Text of the reply',
  usualSubject: 'I am away',
  usualMessage:
    'Hello,\n\nI am away at the moment and read your message when I am back.\n\nKind regards',
  from: 'First day',
  to: 'Last day',
  datesHint: 'For your own overview: the reply is sent every day while it is on.',
  saved: 'The vacation reply is saved',
}

const de: typeof en = {
  title: 'Abwesenheitsantwort',
  hint: 'Wer Ihnen schreibt, erhält diese Antwort, jede Person höchstens einmal am Tag.',
  enabled: 'Antwort senden',
  subject: 'Betreff',
  message: 'Text der Antwort',
  usualSubject: 'Ich bin nicht da',
  usualMessage:
    'Guten Tag,\n\nich bin zurzeit nicht da und lese Ihre Nachricht, sobald ich zurück bin.\n\nFreundliche Grüße',
  from: 'Erster Tag',
  to: 'Letzter Tag',
  datesHint:
    'Für Ihre Übersicht: Die Antwort geht an jedem Tag hinaus, solange sie eingeschaltet ist.',
  saved: 'Die Abwesenheitsantwort ist gespeichert',
}

export const t: typeof en = LANGUAGE === 'de' ? de : en
