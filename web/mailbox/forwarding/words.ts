const en = {
  title: 'Forwarding',
  hint: 'Mail that comes to you goes on to these addresses.',
  enabled: 'Forward my mail',
  addresses: 'Addresses',
  addressesHint: 'One in each line, at most 5.',
  keep: 'Keep a copy in this mailbox',
  keepHint: 'Without it, mail is found only at the other addresses.',
  signatures:
    'Links of your mail are checked here, so forwarded mail loses the signature of its author. Other hosts may take it for spam.',
  saved: 'Forwarding is saved',
  dropped: 'What is no address, and your own address, was left out.',
}

const de: typeof en = {
  title: 'Weiterleitung',
  hint: 'Mail, die bei Ihnen ankommt, geht an diese Adressen weiter.',
  enabled: 'Meine Mail weiterleiten',
  addresses: 'Adressen',
  addressesHint: 'Eine in jeder Zeile, höchstens 5.',
  keep: 'Eine Kopie in diesem Postfach behalten',
  keepHint: 'Ohne sie ist die Mail nur an den anderen Adressen zu finden.',
  signatures:
    'Links Ihrer Mail werden hier geprüft; weitergeleitete Mail verliert deshalb die Signatur ihres Absenders. Andere Server halten sie vielleicht für Spam.',
  saved: 'Die Weiterleitung ist gespeichert',
  dropped: 'Was keine Adresse ist, und Ihre eigene Adresse, wurde weggelassen.',
}

export const t: typeof en = LANGUAGE === 'de' ? de : en
