// Simbody's side of the comparison: the least time of many short batches, by scene, in nanoseconds.
//
// A scene is realized from Position to Dynamics with its forces enabled and with them disabled; the difference is printed,
// which leaves out the kinematics of the bodies.
//
//     g++ -O3 -DNDEBUG -I/usr/include/simbody simbody.cpp -lSimTKsimbody -lSimTKmath -lSimTKcommon

#include <Simbody.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <string>

using namespace SimTK;

namespace {

double least(int rounds, const std::function<void()>& round) {
    double least = std::numeric_limits<double>::infinity();
    for (int batch = 0; batch < 30; ++batch) {
        const auto start = std::chrono::steady_clock::now();
        for (int i = 0; i < rounds; ++i) round();
        const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
        least = std::min(least, taken.count() / rounds);
    }
    return 1e9 * least;
}

double difference(
    MultibodySystem& system, GeneralForceSubsystem& forces, const State& start, int rounds, int count) {
    const auto time = [&](bool disabled) {
        State state = start;
        for (int i = 0; i < forces.getNumForces(); ++i)
            forces.setForceIsDisabled(state, ForceIndex(i), disabled);
        system.realize(state, Stage::Dynamics);
        return least(rounds, [&] {
            state.invalidateAllCacheAtOrAbove(Stage::Position);
            system.realize(state, Stage::Dynamics);
        });
    };
    return (time(false) - time(true)) / count;
}

double wave(int i) { return std::sin((i % 100000) * 1.618034); }

double bushing() {
    const int count = 200;
    MultibodySystem system;
    SimbodyMatterSubsystem matter(system);
    GeneralForceSubsystem forces(system);
    const Body::Rigid body(MassProperties(1, Vec3(0), Inertia(1)));
    Array_<MobilizedBody> bodies;
    for (int i = 0; i <= count; ++i) bodies.push_back(MobilizedBody::Free(matter.Ground(), body));
    const Transform frame(Vec3(0.1, 0, 0.05)), inverse(Vec3(-0.1, 0, -0.05));
    for (int i = 0; i < count; ++i)
        Force::LinearBushing(forces, bodies[i], frame, bodies[i + 1], inverse, Vec6(100), Vec6(1));
    State state = system.realizeTopology();
    system.realizeModel(state);
    for (int i = 0; i <= count; ++i) {
        const auto w = [&](int k) { return wave(7 * i + k); };
        Rotation R;
        R.setRotationToBodyFixedXYZ(0.3 * Vec3(w(0), w(1), w(2)));
        bodies[i].setQToFitTransform(state, Transform(R, 0.1 * Vec3(w(3), w(4), w(5))));
        bodies[i].setUToFitVelocity(
            state, SpatialVec(Vec3(w(6), w(7), w(8)), Vec3(w(9), w(10), w(11))));
    }
    return difference(system, forces, state, 100, count);
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 2 || std::string(arguments[1]) != "bushing") return 1;
    std::printf("%.2f\n", bushing());
}
