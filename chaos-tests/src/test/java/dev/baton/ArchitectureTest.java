package dev.baton;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.simpleNameEndingWith;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.simpleNameStartingWith;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noFields;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import java.time.Clock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.NullMarked;

/** The import table of the design, and what must hold in the byte code of all modules. */
@AnalyzeClasses(packages = "dev.baton", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {
  private static final String PROTO = "dev.baton.proto..";
  private static final String STORED = "dev.baton.proto.journal..";
  private static final String WORKFLOW = "dev.baton.workflow..";
  private static final String COORDINATION = "dev.baton.coordination..";
  private static final String NODE = "dev.baton.node..";
  private static final String SCHEDULER = "dev.baton.scheduler..";
  private static final String WORKER = "dev.baton.worker..";
  private static final String CLIENT = "dev.baton.client..";
  private static final String CLI = "dev.baton.cli..";

  private static final String CLUSTER = "dev.baton.cli.cluster..";
  private static final String PROGRAM = "dev.baton.cli.program..";
  private static final String CHAOS = "dev.baton.chaos..";

  /** Counts results where they are durable. */
  private static final String BENCH = "dev.baton.cli.bench..";

  /** Sees who writes. */
  private static final String CHAOS_STORE = "dev.baton.chaos.store..";

  private static final String MODEL = "dev.baton.scheduler.model..";
  private static final String ENGINE = "dev.baton.scheduler.engine..";
  private static final String JOURNAL = "dev.baton.scheduler.journal..";
  private static final String LOOP = "dev.baton.scheduler.loop..";
  private static final String DISPATCH = "dev.baton.scheduler.dispatch..";
  private static final String API = "dev.baton.scheduler.api..";
  private static final String ADMISSION = "dev.baton.scheduler.admission..";
  private static final String METRICS = "dev.baton.scheduler.metrics..";

  // Modules. What a module may import besides itself and libraries.

  @ArchTest static final ArchRule proto = imports(PROTO);
  @ArchTest static final ArchRule workflow = imports(WORKFLOW, PROTO);
  @ArchTest static final ArchRule coordination = imports(COORDINATION, PROTO);
  @ArchTest static final ArchRule node = imports(NODE, COORDINATION);

  @ArchTest
  static final ArchRule scheduler = imports(SCHEDULER, PROTO, WORKFLOW, COORDINATION, NODE);

  @ArchTest static final ArchRule worker = imports(WORKER, PROTO, COORDINATION, NODE);
  @ArchTest static final ArchRule client = imports(CLIENT, PROTO);
  @ArchTest static final ArchRule cli = imports(CLI, PROTO, WORKFLOW, COORDINATION, NODE, CLIENT);

  /** A black box: of the CLI only what users' programs and the local cluster are made of. */
  @ArchTest
  static final ArchRule chaos = imports(CHAOS, PROTO, COORDINATION, NODE, CLIENT, CLUSTER, PROGRAM);

  // Packages of the scheduler node.

  @ArchTest static final ArchRule model = imports(MODEL);
  @ArchTest static final ArchRule engine = imports(ENGINE, MODEL, WORKFLOW);

  @ArchTest
  static final ArchRule journal = imports(JOURNAL, MODEL, ENGINE, WORKFLOW, COORDINATION, PROTO);

  @ArchTest
  static final ArchRule loop = imports(LOOP, MODEL, ENGINE, JOURNAL, WORKFLOW, COORDINATION, PROTO);

  @ArchTest
  static final ArchRule dispatch =
      imports(DISPATCH, MODEL, ENGINE, LOOP, COORDINATION, PROTO, WORKFLOW, NODE);

  @ArchTest
  static final ArchRule api =
      imports(API, MODEL, ENGINE, JOURNAL, LOOP, COORDINATION, PROTO, WORKFLOW, NODE);

  @ArchTest static final ArchRule admission = imports(ADMISSION, MODEL, ENGINE, LOOP, PROTO, NODE);

  @ArchTest static final ArchRule metrics = imports(METRICS, MODEL, ENGINE, LOOP, NODE);

  // Libraries.

  @ArchTest
  static final ArchRule onlyOnePackageKnowsJetcd =
      noClasses()
          .that(resideOutside("dev.baton.coordination.jetcd.."))
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage("io.etcd..", "io.vertx..")
          .allowEmptyShould(true);

  @ArchTest
  static final ArchRule onlyOnePackageKnowsDocker =
      noClasses()
          .that(resideOutside("dev.baton.chaos.environment.machines.."))
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage("org.testcontainers..", "com.github.dockerjava..");

  @ArchTest
  static final ArchRule whatIsStoredIsNoPartOfAnApi =
      noClasses()
          .that(not(resideInAnyPackage(JOURNAL, LOOP, DISPATCH, BENCH, CHAOS_STORE, STORED)))
          .should()
          .dependOnClassesThat()
          .resideInAPackage(STORED)
          .allowEmptyShould(true);

  @ArchTest
  static final ArchRule onlyTheHttpPortKnowsJetty =
      noClasses()
          .that()
          .doNotHaveFullyQualifiedName("dev.baton.node.HttpPort")
          .and(nestedIn("dev.baton.node.HttpPort"))
          .should()
          .dependOnClassesThat()
          .resideInAPackage("org.eclipse.jetty..");

  // The engine is pure: the same commands at the same times give the same events.

  @ArchTest
  static final ArchRule rulesDoNoInputOrOutput =
      noClasses()
          .that()
          .resideInAnyPackage(ENGINE, MODEL)
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(
              "org.slf4j..",
              "java.io..",
              "java.nio.channels..",
              "java.nio.file..",
              "java.net..",
              "java.util.concurrent..",
              "io.grpc..",
              "io.micrometer..",
              "com.google.protobuf..",
              "com.fasterxml..",
              "dev.cel..")
          .allowEmptyShould(true);

  @ArchTest
  static final ArchRule rulesEvaluateNoExpressions =
      noClasses()
          .that()
          .resideInAnyPackage(ENGINE, MODEL)
          .should()
          .dependOnClassesThat(
              resideInAPackage(WORKFLOW)
                  .and(simpleNameStartingWith("Expression").or(simpleNameEndingWith("Reader"))))
          .allowEmptyShould(true)
          .because("of a definition they need the nouns only");

  @ArchTest
  static final ArchRule rulesKnowNeitherClockNorChance =
      noClasses()
          .that()
          .resideInAnyPackage(ENGINE, MODEL)
          .should()
          .callMethod(System.class, "currentTimeMillis")
          .orShould()
          .callMethod(System.class, "nanoTime")
          .orShould()
          .callMethod(System.class, "identityHashCode", Object.class)
          .orShould()
          .callMethod(Instant.class, "now")
          .orShould()
          .callMethod(Math.class, "random")
          .orShould()
          .dependOnClassesThat()
          .areAssignableTo(Clock.class)
          .orShould()
          .dependOnClassesThat()
          .areAssignableTo(java.util.random.RandomGenerator.class)
          .orShould()
          .dependOnClassesThat()
          .belongToAnyOf(Thread.class, java.util.UUID.class)
          .allowEmptyShould(true);

  // Everywhere.

  @ArchTest
  static final ArchRule nobodySleeps =
      noClasses()
          .should()
          .callMethod(Thread.class, "sleep", long.class)
          .orShould()
          .callMethod(Thread.class, "sleep", long.class, int.class)
          .orShould()
          .callMethod(Thread.class, "sleep", java.time.Duration.class)
          .orShould()
          .callMethod(TimeUnit.class, "sleep", long.class)
          .because("a state is awaited, a time is scheduled");

  @ArchTest
  static final ArchRule staticFieldsAreFinal =
      noFields()
          .that()
          .areDeclaredInClassesThat(resideOutside(PROTO))
          .and()
          .areStatic()
          .should()
          .notBeFinal();

  @ArchTest
  static final ArchRule staticFieldsHoldNoState =
      noFields()
          .that()
          .areDeclaredInClassesThat(resideOutside(PROTO))
          .and()
          .areStatic()
          .should()
          .haveRawType(
              DescribedPredicate.describe(
                  "that changes",
                  type ->
                      type.getPackageName().equals("java.util.concurrent.atomic")
                          || type.isEquivalentTo(ThreadLocal.class)
                          || isMutable(type)));

  @ArchTest
  static final ArchRule packagesAreNullMarked =
      classes()
          .that(resideOutside(PROTO))
          .should(
              new ArchCondition<JavaClass>("live in a package that is @NullMarked") {
                @Override
                public void check(JavaClass item, ConditionEvents events) {
                  boolean marked = item.getPackage().isAnnotatedWith(NullMarked.class);
                  events.add(
                      new SimpleConditionEvent(
                          item,
                          marked,
                          item.getPackageName() + " has no package-info with @NullMarked"));
                }
              });

  private static ArchRule imports(String who, String... others) {
    List<String> allowed = new ArrayList<>(List.of(who));
    allowed.addAll(Arrays.asList(others));
    return noClasses()
        .that()
        .resideInAPackage(who)
        .should()
        .dependOnClassesThat(
            resideInAPackage("dev.baton..")
                .and(not(resideInAnyPackage(allowed.toArray(String[]::new)))))
        .allowEmptyShould(true)
        .as(
            "%s imports of ours only %s"
                .formatted(who, others.length == 0 ? "itself" : String.join(", ", others)));
  }

  private static DescribedPredicate<JavaClass> resideOutside(String packages) {
    return not(resideInAPackage(packages));
  }

  private static DescribedPredicate<JavaClass> nestedIn(String outer) {
    return DescribedPredicate.describe(
        "that do not stand in " + outer, type -> !type.getName().startsWith(outer + "$"));
  }

  /** Collections by their mutable classes: a {@code List} in a static field is a constant here. */
  private static boolean isMutable(JavaClass type) {
    boolean collection = type.isAssignableTo(Collection.class) || type.isAssignableTo(Map.class);
    return collection && type.getPackageName().startsWith("java.util") && !type.isInterface();
  }
}
