"""Names and words that the rules look up. Data only; every set but the names is in lower case.

The lists decide doubtful cases (is a capital at the start of a sentence a name?), so they need not be
complete: a name in the middle of a sentence is found without them.
"""

from satchel.runtime.stopwords import ENGLISH, FRENCH, word_set

FIRST_NAMES = word_set(
    """
    Aaron Ada Adam Adrien Aisha Alain Alan Alex Alexander Alexandra Alexandre Alexis Alice Amanda Amélie
    Amina Amy Ana Anaïs Andrea Andrew Anita Anna Anne Anthony Antoine Arthur Audrey Aurélie Barbara
    Baptiste Benjamin Benoît Bernard Bob Brian Bruno Camille Carla Carlos Carol Caroline Catherine Cécile
    Céline Chantal Charles Charlotte Chen Chloé Chris Christian Christine Christophe Claire Clara Claude
    Clément Corinne Cyril Dana Daniel David Deborah Denis Diana Diego Dominique Dylan Edward Élise Élodie
    Emily Emma Éric Eric Erik Erin Étienne Eva Evan Fabien Fatima Félix Florence Florent Francis Franck
    François Françoise Frank Fred Frédéric Gabriel Gaëlle Geoffrey George Gérard Gilles Gina Grace Grégory
    Guillaume Hana Hannah Hans Harry Hélène Henri Henry Hugo Ian Ibrahim Inès Irène Isaac Isabelle Ivan
    Jack Jacob Jacques James Jamal Jane Janet Jason Jean Jennifer Jérémy Jérôme Jessica Jim Joan Joanna
    Joe Joël John Jon Jonathan Jordan José Joseph Joshua Juan Jules Julia Julie Julien Justine Karen Karim
    Karl Kate Kevin Kim Laura Laurent Léa Leila Léo Leo Léon Lina Linda Lionel Lisa Louis Louise Luc Lucas
    Lucie Lucy Luis Luke Ludovic Madeleine Manon Marc Marco Margaret Maria Marie Mario Marion Mark Martin
    Martine Mary Mathieu Mathilde Matthew Matthieu Maurice Max Maxime Mehdi Mel Melanie Mélanie Michael
    Michel Michelle Miguel Mike Mohamed Mohammed Monica Monique Nadia Nancy Natalie Nathalie Nathan
    Nicolas Nicole Nina Noah Noémie Olga Oliver Olivia Olivier Omar Oscar Pablo Pamela Pascal Patricia
    Patrick Paul Pauline Pedro Peter Philippe Pierre Priya Quentin Rachel Ralph Raphaël Raj Rebecca Rémi
    Renée René Richard Robert Robin Romain Rosa Ryan Sabrina Sam Samir Samuel Sandra Sara Sarah Scott Sean
    Sébastien Serge Simon Simone Sofia Sonia Sophia Sophie Stéphane Stéphanie Stephen Steve Susan Sylvain
    Sylvie Tanya Théo Thérèse Thibault Thierry Thomas Tim Timothy Tom Tony Valérie Vanessa Véronique
    Victor Victoria Vincent Virginie Walter Wei William Xavier Yann Yasmine Yves Yuki Zoe Zoé
    """
)

TECHNOLOGIES = word_set(
    """
    airflow android angular ansible apache aws azure bash bitbucket cassandra celery chrome clickhouse
    cloudflare cockroachdb consul datadog debian django docker duckdb dynamodb elasticsearch elixir erlang
    etcd express faiss fastapi firebase firefox flask flutter gcp git github gitlab go golang grafana
    graphql gradle grpc haskell helm heroku istio java javascript jenkins jira kafka keycloak kotlin
    kubernetes lambda laravel linux logstash lua mariadb maven memcached mongodb mysql nats neo4j netlify
    next.js nginx node node.js nomad npm numpy okta openshift openssl oracle pandas perl php podman
    postgres postgresql prometheus protobuf pulsar puppet pulumi python pytorch rabbitmq rails react redis
    redshift rocksdb ruby rust scala sentry snowflake solr spark splunk spring sqlite svelte swift
    tailwind tensorflow terraform typescript ubuntu unix vault vercel vite vue webpack windows yarn
    zookeeper
    """
)

ORGANISATIONS = word_set(
    """
    accenture adobe airbnb airbus alibaba alstom amazon amd anthropic apple atlassian axa bloomberg bmw
    boeing bosch capgemini cisco danone dell deloitte disney dropbox ebay edf ericsson facebook ford
    google huawei ibm ikea intel kpmg linkedin loreal mastercard meta microsoft mistral mozilla netflix
    nike nintendo nokia nvidia openai orange oracle ovh paypal peugeot pfizer philips qualcomm renault
    reuters salesforce samsung sanofi sap shopify siemens slack sncf sony spotify stripe tesla thales
    toyota twitter uber unesco unicef visa volkswagen wikipedia xiaomi yahoo youtube zoom
    """
)

PLACES = word_set(
    """
    africa algeria america amsterdam argentina asia athens australia austria bangkok barcelona beijing
    belgique belgium berlin bordeaux boston brazil brussels bruxelles bulgaria california canada
    casablanca chicago chile china colombia copenhagen dakar delhi denmark dublin egypt england espagne
    europe finland florida france geneva genève germany greece grenoble hamburg hungary iceland india
    indonesia ireland israel istanbul italie italy japan kenya korea lausanne lille lisbon london londres
    luxembourg lyon madrid marseille melbourne mexico miami milan montpellier montreal montréal morocco
    moscow mumbai munich nairobi nantes netherlands nice nigeria norway oslo ottawa paris peru poland
    portugal prague quebec québec rennes rome russia scotland seattle seoul shanghai singapore spain
    stockholm strasbourg suisse sweden switzerland sydney taiwan texas thailand tokyo toronto toulouse
    tunisia turkey ukraine vancouver vienna vietnam warsaw washington zurich
    """
)

COMMON_NOUNS = word_set(
    """
    apple bash boeing chrome consul express flask ford go helm lambda meta mistral nice node oracle orange
    pandas puppet rails react rust scala sentry slack spark splunk spring stripe swift turkey vault visa
    vite windows yarn zoom
    """
)
"""Names above that are also words, so that at the start of a sentence they prove nothing."""

ROLES = word_set(
    """
    cto ceo cfo coo cio ciso cpo cmo dpo po pm vp hr rssi dsi dg ops sre qa architect director management
    manager president board committee client customer legal security direction directeur directrice comité
    """
)

DAYS = word_set(
    """
    monday tuesday wednesday thursday friday saturday sunday lundi mardi mercredi jeudi vendredi samedi
    dimanche
    """
)

MONTHS = word_set(
    """
    january february march april may june july august september october november december janvier février
    mars avril mai juin juillet août septembre octobre novembre décembre jan feb apr jun jul aug sept sep
    oct nov dec
    """
)

LABELS = word_set(
    """
    action actions agenda alternatives answer approved approuvé assigned assigné assignee because cause
    choice choix choices conclusion constraint context contexte date deadline decided decision decisions
    décidé décision décisions description details discarded due échéance error erreur example exemple
    excluded fact fait fix goal guess important info justification link motif next nota note notes objet
    observation owner plan preference préférence problem problème question raison raisons rationale re
    reason reasons rejected rejeté rejetés reminder responsable responsible result résultat risk risque
    root session solution status statut step steps subject sujet summary résumé team tip title titre todo
    topic update validated validé warning attention assistant user system human
    """
)

NOT_ACRONYMS = word_set(
    """
    AM AND ALL ANY ARE BE BUT BY CAN CRITICAL DEBUG DO DON'T EOD EOW ERROR ET FAIL FAILED FATAL FIXME FOR
    FROM GET HTTP HTTPS IF IMPORTANT IN INFO IS IT LES MUST NO NOT NOTE NOW OF OK ON ONLY OR OUI NON OU
    PASS PM PLEASE POST PUT DELETE SELECT SO THE THIS TO TODO TRACE VERY WARN WARNING WE WITH XXX YES YOU
    """
)

STARTERS = word_set(
    """
    absolutely actually afterwards agreed almost already alright also although always amazing anyone
    anything anyway apparently approved assigned awesome basically besides bonjour bonsoir btw certainly
    congrats consequently currently dear decided fri decision definitely despite dr earlier either enfin
    ensuite everybody everyone everything exactly excellent exciting finally first firstly fortunately
    glad good goodbye great guys haha happy hello hence hey hi hopefully however indeed instead
    interesting last lastly later lately let lets lol look lot lots madame many maybe meanwhile merci
    monsieur moreover mr mrs ms never nevertheless next nice nobody none nothing oh okay old otherwise our
    perhaps please probably rather really recently reason rejected rien right salut says second secondly
    sat see seems several similarly since someone something sometimes soon sorry sounds still suddenly
    super sure surely sun thank thanks thu thurs tue tues then therefore third thus today tomorrow tonight
    totally true ugh unfortunately usually voici voilà wait wed welcome well whatever whenever wow yeah
    yep yes yesterday yet yo aujourd aujourd'hui ainsi bref cependant certains depuis désormais hier
    lorsque maintenant malgré néanmoins oui non plusieurs puis puisque quant selon seul toutefois
    """
)

ORDINARY = (
    STARTERS | ENGLISH | FRENCH | DAYS | MONTHS | frozenset({"après", "même", "très", "à", "où", "été"})
)
"""Words that are no names, whatever their first letter."""

TOPICS = {
    word: topic
    for topic, words in {
        "access": "permission permissions authorization authorisation",
        "api": "api apis endpoint endpoints",
        "architecture": "architecture architectural",
        "authentication": "auth authentication authentification login oauth sso",
        "backend": "backend",
        "backup": "backup backups sauvegarde sauvegardes",
        "billing": "billing invoicing facturation",
        "budget": "budget budgets",
        "cache": "cache caching",
        "configuration": "config configuration",
        "database": "database databases db bdd sgbd",
        "deployment": "deploy deployment deployments deploying déploiement déploiements déployer",
        "documentation": "documentation",
        "frontend": "frontend",
        "infrastructure": "infrastructure infra",
        "logging": "logging logs journalisation",
        "migration": "migration migrations migrate migrating migrer migré migrated",
        "monitoring": "monitoring supervision observability",
        "network": "network réseau",
        "performance": "performance performances latency latence",
        "pipeline": "pipeline pipelines",
        "release": "release releases livraison",
        "roadmap": "roadmap",
        "schema": "schema schéma",
        "search": "search recherche",
        "security": "security sécurité vulnerability",
        "storage": "storage stockage",
        "testing": "tests testing",
    }.items()
    for word in words.split()
}
"""Domain words and the subject each stands for."""
