package dev.baton.chaos.environment.machines;

import com.github.dockerjava.api.DockerClient;
import com.github.dockerjava.api.command.BuildImageResultCallback;
import com.github.dockerjava.api.exception.DockerClientException;
import com.github.dockerjava.api.exception.DockerException;
import com.github.dockerjava.api.exception.NotFoundException;
import dev.baton.node.ExitCode;
import dev.baton.node.ExitException;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The one image that all members run: files of this machine and nothing that was pulled. It is
 * named after what is in it, so the same program makes it once. It stays in the engine.
 */
final class ContainerImage {
  static final String REPOSITORY = "baton-chaos";
  private static final int TAR_SECONDS = 10;
  private static final int BUILD_MINUTES = 5;

  private ContainerImage() {}

  /** Its name, once it is there. */
  static String ensure(
      DockerClient docker, Map<String, String> environment, Consumer<String> progress) {
    RootFiles files = RootFiles.collect(environment);
    String name = REPOSITORY + ":" + files.digest();
    if (!exists(docker, name)) {
      progress.accept("docker: making the image " + name + " of this JDK, this program and etcd");
      make(docker, files, name);
    }
    return name;
  }

  private static boolean exists(DockerClient docker, String name) {
    try {
      var unused = docker.inspectImageCmd(name).exec();
      return true;
    } catch (NotFoundException e) {
      return false;
    }
  }

  private static void make(DockerClient docker, RootFiles files, String name) {
    Path work = null;
    try {
      work = Files.createTempDirectory("baton-image");
      Process tar =
          new ProcessBuilder(files.archive(work))
              .redirectInput(ProcessBuilder.Redirect.from(new File("/dev/null")))
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .start();
      try {
        String unused =
            docker
                .buildImageCmd(tar.getInputStream())
                .withTags(Set.of(name))
                .exec(new BuildImageResultCallback())
                .awaitImageId(BUILD_MINUTES, TimeUnit.MINUTES);
        if (!tar.waitFor(TAR_SECONDS, TimeUnit.SECONDS) || tar.exitValue() != 0) {
          docker.removeImageCmd(name).exec();
          throw new ExitException(
              ExitCode.FAILED,
              "the image for --env docker could not be made: tar did not read all of its files;"
                  + " did they change meanwhile?");
        }
      } finally {
        tar.destroyForcibly();
      }
    } catch (DockerException | DockerClientException e) {
      throw new ExitException(
          ExitCode.FAILED,
          "the image for --env docker could not be made: the engine says: " + e.getMessage(),
          e);
    } catch (IOException e) {
      throw new UncheckedIOException("The image for --env docker could not be made", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ExitException(ExitCode.INTERRUPTED, "interrupted", e);
    } finally {
      delete(work);
    }
  }

  private static void delete(@Nullable Path work) {
    try {
      if (work != null) {
        Files.deleteIfExists(work.resolve("names"));
        Files.deleteIfExists(work.resolve("Dockerfile"));
        Files.deleteIfExists(work);
      }
    } catch (IOException e) {
      // The system empties its folder for such files.
    }
  }
}
